/* A shared object that is no plugin. */
__attribute__((visibility("default"))) extern const int something_else;
const int something_else = 1;
