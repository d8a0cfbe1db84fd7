/* markup_test.c: `sluice test` refuses drawings that are not well-formed, and no others. */
#include "support.h"
#include "trial/trial.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const good[] = {
    "<svg/>",
    "<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg>\n<svg xmlns='x:y' x = \"1\" >\n</svg >\n",
    "<svg><g id='a'><path d='M0,0h1'/><svg></svg></g><text>a &lt; b &#956; &#x3bc; > ' \" π⁺ p̅</text></svg>",
    "<svg><style>/*<![CDATA[*/ a > b { } < & /*]]>*/</style></svg>",
};

static const struct {
  const char *text, *reason;
} bad[] = {
    {"", "line 1 of its drawing: it has no <svg>"},
    {"<!-- <svg/> -->", "line 1 of its drawing: it has no <svg>"},
    {"hello", "line 1 of its drawing: text outside of the root element"},
    {"<html></html>", "line 1 of its drawing: the root element is <html>, <svg> is expected"},
    {"<svg>\n<g>\n", "line 2 of its drawing: <g> does not end"},
    {"<svg>\n<g></svg>", "line 2 of its drawing: </svg> where </g> is expected"},
    {"<svg></svg></svg>", "line 1 of its drawing: </svg> without <svg>"},
    {"<svg/><svg/>", "line 1 of its drawing: a second root element"},
    {"<svg/>more", "line 1 of its drawing: text outside of the root element"},
    {"<svg", "line 1 of its drawing: the tag <svg does not end"},
    {"<svg /", "line 1 of its drawing: the tag <svg does not end"},
    {"<svg></svg", "line 1 of its drawing: the tag </svg does not end"},
    {"<svg width=1></svg>", "line 1 of its drawing: the attribute width of <svg> has no quoted value"},
    {"<svg width></svg>", "line 1 of its drawing: the attribute width of <svg> has no quoted value"},
    {"<svg width='1></svg>", "line 1 of its drawing: < in an attribute is not written as &lt;"},
    {"<svg width='1", "line 1 of its drawing: the value of the attribute width does not end"},
    {"<svg 1='1'/>", "line 1 of its drawing: the tag <svg does not end"},
    {"<svg>a & b</svg>", "line 1 of its drawing: & is not written as &amp;"},
    {"<svg>&amp</svg>", "line 1 of its drawing: & is not written as &amp;"},
    {"<svg a='&'/>", "line 1 of its drawing: & is not written as &amp;"},
    {"<svg>&", "line 1 of its drawing: & is not written as &amp;"},
    {"<svg>a < b</svg>", "line 1 of its drawing: < is not written as &lt;"},
    {"<svg><!-- </svg>", "line 1 of its drawing: a comment <!-- does not end"},
    {"<svg>\n\x01</svg>", "line 2 of its drawing: the byte 0x01, which is no character"},
    {"<svg>\xcf</svg>", "line 1 of its drawing: the byte 0xCF, which is no character"},
    {"<svg>\xff</svg>", "line 1 of its drawing: the byte 0xFF, which is no character"},
};

static void well_formed_drawings_are_accepted(void **state) {
  (void)state;
  char reason[400] = "";
  for (size_t i = 0; i < COUNT(good); i++)
    if (trial_lint_drawing(good[i], strlen(good[i]), reason, sizeof reason)) fail_msg("%s: %s", good[i], reason);
}

static void other_drawings_are_refused_with_the_line(void **state) {
  (void)state;
  char reason[400];
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_int_equal(trial_lint_drawing(bad[i].text, strlen(bad[i].text), reason, sizeof reason), 1);
    assert_string_equal(reason, bad[i].reason);
  }
}

static void a_drawing_that_is_cut_off_anywhere_is_refused(void **state) {
  (void)state;
  char reason[400];
  for (size_t i = 0; i < COUNT(good); i++) {
    const size_t end = (size_t)(strrchr(good[i], '>') - good[i]);
    for (size_t bytes = 0; bytes <= end; bytes++) {
      char *cut = strndup(good[i], bytes);
      assert_int_equal(trial_lint_drawing(cut, bytes, reason, sizeof reason), 1);
      free(cut);
    }
  }
}

static void elements_nest_to_a_limit(void **state) {
  (void)state;
  enum { DEPTH = 300, BYTES = 5 };
  char text[DEPTH * BYTES + 1] = "", reason[400];
  for (int i = 0; i < DEPTH; i++) memcpy(text + BYTES * i, "<svg>", BYTES);
  assert_int_equal(trial_lint_drawing(text, DEPTH * BYTES, reason, sizeof reason), 1);
  assert_string_equal(reason, "line 1 of its drawing: more than 256 nested elements");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(well_formed_drawings_are_accepted),
      cmocka_unit_test(other_drawings_are_refused_with_the_line),
      cmocka_unit_test(a_drawing_that_is_cut_off_anywhere_is_refused),
      cmocka_unit_test(elements_nest_to_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
