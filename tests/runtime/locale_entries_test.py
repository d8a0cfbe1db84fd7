#!/usr/bin/env python3
"""Each public function begins with SL_IN_C_LOCALE, or is listed here because it neither formats nor parses; only
base/thread.c starts threads; nothing changes the program's locale. First, the checks themselves are tested."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("inputs.h", "kept.h", "planner.h", "sluice.h", "testing.h")
# Functions that neither format nor parse, directly or indirectly.
PLAIN = set("""
    sl_diagnostics_count sl_diagnostics_errors sl_diagnostics_at sl_diagnostics_follow sl_diagnostics_free
    sl_diagnostics_new sl_diagnostics_print sl_diagnostic_print sl_diagnostics_print_dropped sl_processor_lacks
    sl_feed_free sl_feed_give_event sl_feed_give_packet sl_feed_give_arrays sl_feed_end sl_feed_wait sl_follow_end sl_follow_free
    sl_options_default sl_trial_options_default sl_replay_options_default sl_drawing_options_default sl_session_stop sl_session_stop_by sl_session_summary
    sl_session_identity sl_session_writes_stdout sl_server_url sl_digest_join sl_digest_totals sl_index_parts sl_index_close
    sl_session_keep_batch sl_kept_batch_memory sl_kept_batch_retain sl_kept_batch_release sl_kept_batch_download sl_kept_batch_tensor
    sl_tensor_delete sl_allocation_summarize sl_allocation_close sl_version sl_commit sl_devices
    sl_test_events sl_test_list sl_test_shared sl_test_messages sl_test_report sl_test_drawing""".split())


def public(headers):
    return {name for text in headers for name in re.findall(r"^SL_(?:TEST_)?API\b[^;(]*?\b(sl_\w+)\(", text, re.MULTILINE)}


def problems(headers, sources):
    names, defined = public(headers), set()
    for path, text in sources.items():
        for found in re.finditer(r"^(?!static)\w[\w *]*?\b(sl_\w+)\([^;{]*\) \{\s*", text, re.MULTILINE):
            name, body = found[1], text[found.end() : found.end() + 200]
            if name not in names:
                continue
            defined.add(name)
            body = body.removeprefix("if (sl_processor_check(d) < 0) return SL_EINVAL;\n").lstrip()
            if name not in PLAIN and not body.startswith("SL_IN_C_LOCALE("):
                yield f"{path}: {name} does not begin with SL_IN_C_LOCALE"
        if "setlocale(" in text:
            yield f"{path}: setlocale changes the locale of the program"
        if re.search(r"\bpthread_create\(", text) and path != "runtime/base/thread.c":
            yield f"{path}: a thread is started by sl_thread_start of base/thread.h alone"
    yield from (f"{name} has no definition that is found" for name in sorted(names - defined))
    yield from (f"{name} is listed, and no public function" for name in sorted(PLAIN - names))


def main():
    header = "SL_API int sl_say(int a);\nSL_TEST_API void sl_test_say(void);\n"
    good = "int sl_say(int a) {\n  SL_IN_C_LOCALE(0);\n  return a;\n}\nvoid sl_test_say(void) {\n  SL_IN_C_LOCALE();\n}\n"
    plain = {f"{name} is listed, and no public function" for name in PLAIN}
    for text, count in ((good, 0), (good.replace("  SL_IN_C_LOCALE();\n", "  say();\n"), 1), (good.replace("sl_test_say", "sl_other"), 1),
                        (good + 'void f(void) { setlocale(LC_ALL, ""); }\n', 1), (good + "void f(void) { pthread_create(0, 0, 0, 0); }\n", 1)):
        found = [problem for problem in problems([header], {"a.c": text}) if problem not in plain]
        if len(found) != count:
            sys.exit(f"the check finds {found} in:\n{text}")
    headers = [(ROOT / "runtime/include/sluice" / name).read_text(encoding="utf-8") for name in HEADERS]
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
               for folder in ("runtime", "plugins") for path in sorted((ROOT / folder).rglob("*.c*")) if path.suffix in (".c", ".cu")}
    found = [*problems(headers, sources)]
    print("\n".join(found) or "ok")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
