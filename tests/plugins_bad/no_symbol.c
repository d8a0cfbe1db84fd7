/* A shared object that is not a plugin. */
__attribute__((visibility("default"))) extern const int something_else;
const int something_else = 1;
