/* markup.c: checks that a drawing is well-formed XML with the root element svg: elements nest, attributes are quoted,
 * `<` and `&` are escaped, and the text is UTF-8. References and names are not looked up.
 */
#include "trial/trial.h"

#include <stdarg.h>
#include <string.h>

enum { DEPTH_MAX = 256 };
static const char blanks[] = " \t\r\n";

struct name {
  const char *text;
  size_t bytes;
};

struct markup {
  const char *begin, *at, *end;
  struct name open[DEPTH_MAX]; /* elements that have begun and not ended */
  uint32_t depth, elements;
  char *reason;
  size_t reason_size;
};

static int refuse(const struct markup *m, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(const struct markup *m, const char *at, const char *format, ...) {
  char text[200];
  uint32_t line = 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (const char *c = m->begin; c < at; c++) line += *c == '\n';
  snprintf(m->reason, m->reason_size, "line %u of its drawing: %s", line, text);
  return 1;
}

static int begins(const struct markup *m, const char *text) {
  return (size_t)(m->end - m->at) >= strlen(text) && memcmp(m->at, text, strlen(text)) == 0;
}

/* Skips everything up to the end of `text`. */
static int skip_to(struct markup *m, const char *text, const char *what) {
  const char *begin = m->at;
  while (m->at < m->end && !begins(m, text)) m->at++;
  if (m->at == m->end) return refuse(m, begin, "%s does not end", what);
  m->at += strlen(text);
  return 0;
}

static void skip_blanks(struct markup *m) {
  while (m->at < m->end && strchr(blanks, *m->at)) m->at++;
}

/* A name begins with a letter, `_`, `:` or a character of several bytes; digits, `-` and `.` may follow. */
static struct name take_name(struct markup *m) {
  const char *begin = m->at;
  for (; m->at < m->end; m->at++) {
    const unsigned char c = (unsigned char)*m->at;
    const int is_first = ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == ':' || c >= 128;
    if (!is_first && (m->at == begin || !((c >= '0' && c <= '9') || c == '-' || c == '.'))) break;
  }
  return (struct name){begin, (size_t)(m->at - begin)};
}

/* `&lt;`, `&#10;` or `&#x1F;`. */
static int check_reference(struct markup *m) {
  const char *begin = m->at++;
  if (m->at < m->end && *m->at == '#')
    m->at += 1 + strspn(m->at + 1, "xX0123456789abcdefABCDEF");
  else
    take_name(m);
  if (m->at - begin < 2 || m->at == m->end || *m->at++ != ';') return refuse(m, begin, "& is not written as &amp;");
  return 0;
}

static int check_attribute(struct markup *m, const struct name *element) {
  const char *begin = m->at;
  const struct name name = take_name(m);
  if (name.bytes == 0) return refuse(m, begin, "the tag <%.*s does not end", (int)element->bytes, element->text);
  skip_blanks(m);
  if (m->at < m->end && *m->at == '=') m->at++;
  skip_blanks(m);
  if (m->at == m->end || (*m->at != '"' && *m->at != '\''))
    return refuse(m, begin, "the attribute %.*s of <%.*s> has no quoted value", (int)name.bytes, name.text,
                  (int)element->bytes, element->text);
  const char quote = *m->at++;
  while (m->at < m->end && *m->at != quote) {
    if (*m->at == '<') return refuse(m, m->at, "< in an attribute is not written as &lt;");
    if (*m->at != '&')
      m->at++;
    else if (check_reference(m))
      return 1;
  }
  if (m->at == m->end)
    return refuse(m, begin, "the value of the attribute %.*s does not end", (int)name.bytes, name.text);
  m->at++;
  return 0;
}

static int check_begin(struct markup *m) {
  const char *begin = m->at++;
  const struct name name = take_name(m);
  if (name.bytes == 0) return refuse(m, begin, "< is not written as &lt;");
  if (m->depth == 0 && m->elements > 0) return refuse(m, begin, "a second root element");
  if (m->depth == 0 && (name.bytes != 3 || memcmp(name.text, "svg", 3) != 0))
    return refuse(m, begin, "the root element is <%.*s>, <svg> is expected", (int)name.bytes, name.text);
  if (m->depth == DEPTH_MAX) return refuse(m, begin, "more than %d nested elements", DEPTH_MAX);
  m->elements++;
  for (skip_blanks(m); m->at < m->end && *m->at != '>' && *m->at != '/'; skip_blanks(m))
    if (check_attribute(m, &name)) return 1;
  const int is_empty = m->at < m->end && *m->at == '/';
  m->at += is_empty;
  if (m->at == m->end || *m->at != '>')
    return refuse(m, begin, "the tag <%.*s does not end", (int)name.bytes, name.text);
  m->at++;
  if (!is_empty) m->open[m->depth++] = name;
  return 0;
}

static int check_end(struct markup *m) {
  const char *begin = m->at;
  m->at += 2;
  const struct name name = take_name(m);
  skip_blanks(m);
  if (m->at == m->end || *m->at != '>')
    return refuse(m, begin, "the tag </%.*s does not end", (int)name.bytes, name.text);
  m->at++;
  if (m->depth == 0)
    return refuse(m, begin, "</%.*s> without <%.*s>", (int)name.bytes, name.text, (int)name.bytes, name.text);
  const struct name *open = &m->open[--m->depth];
  if (open->bytes == name.bytes && memcmp(open->text, name.text, name.bytes) == 0) return 0;
  return refuse(m, begin, "</%.*s> where </%.*s> is expected", (int)name.bytes, name.text, (int)open->bytes,
                open->text);
}

/* Text between tags. */
static int check_text(struct markup *m) {
  const char *begin = m->at;
  if (*m->at == '&') return check_reference(m);
  if (m->depth == 0 && !strchr(blanks, *m->at)) return refuse(m, begin, "text outside of the root element");
  m->at++;
  return 0;
}

/* Bytes of the UTF-8 character at `at`; 0: it is none, or one that XML forbids. */
static uint32_t character_bytes(const unsigned char *at, const unsigned char *end) {
  if (*at < 128) return *at >= ' ' || strchr(blanks + 1, *at) ? 1 : 0;
  const uint32_t bytes = *at >= 0xC2 && *at < 0xE0   ? 2
                         : *at >= 0xE0 && *at < 0xF0 ? 3
                         : *at >= 0xF0 && *at < 0xF5 ? 4
                                                     : 0;
  for (uint32_t i = 1; i < bytes; i++)
    if (end - at <= i || (at[i] & 0xC0) != 0x80) return 0;
  return bytes;
}

static int check_characters(const struct markup *m) {
  const unsigned char *end = (const unsigned char *)m->end;
  for (const unsigned char *at = (const unsigned char *)m->begin; at < end;) {
    const uint32_t bytes = *at ? character_bytes(at, end) : 0;
    if (bytes == 0) return refuse(m, (const char *)at, "the byte 0x%02X, which is no character", *at);
    at += bytes;
  }
  return 0;
}

static int check_next(struct markup *m) {
  if (begins(m, "<?")) return skip_to(m, "?>", "an instruction <?");
  if (begins(m, "<!--")) return skip_to(m, "-->", "a comment <!--");
  if (begins(m, "<![CDATA[") && m->depth > 0) return skip_to(m, "]]>", "a section <![CDATA[");
  if (begins(m, "<!DOCTYPE") && m->elements == 0) return skip_to(m, ">", "<!DOCTYPE");
  if (begins(m, "</")) return check_end(m);
  return *m->at == '<' ? check_begin(m) : check_text(m);
}

int trial_lint_drawing(const char *text, size_t bytes, char *reason, size_t reason_size) {
  struct markup m = {.begin = text, .at = text, .end = text + bytes, .reason = reason, .reason_size = reason_size};
  if (check_characters(&m)) return 1;
  while (m.at < m.end)
    if (check_next(&m)) return 1;
  if (m.depth > 0)
    return refuse(&m, m.open[m.depth - 1].text, "<%.*s> does not end", (int)m.open[m.depth - 1].bytes,
                  m.open[m.depth - 1].text);
  return m.elements == 0 ? refuse(&m, m.end, "it has no <svg>") : 0;
}
