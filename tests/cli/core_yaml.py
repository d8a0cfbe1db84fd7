"""Reads YAML like the graph reader: scalars of the core schema of YAML 1.2, no merge keys, no repeated keys."""
import re

import yaml


class CoreLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}

    def compose_node(self, parent, index):
        event = self.peek_event()
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)  # an anchor may be redefined
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(None, None, "a key is repeated", node.start_mark)
        return {self.construct_object(key, deep): self.construct_object(value, deep) for key, value in node.value}

    def core_integer(self, node):
        return int(node.value, 0) if node.value[:2] in ("0x", "0o") else int(node.value)

    def core_float(self, node):
        return float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))


for tag, expression, first in (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN", "-+.0123456789"),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{expression})\\Z"), [*first.replace("\0", ""), ""] if tag == "null" else list(first))
CoreLoader.add_constructor("tag:yaml.org,2002:int", CoreLoader.core_integer)
CoreLoader.add_constructor("tag:yaml.org,2002:float", CoreLoader.core_float)
CoreLoader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def load(text):
    return yaml.load(text, CoreLoader)
