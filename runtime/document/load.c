/* load.c: reads the graph's file and its includes, depth first: the includes of a file in order, then the file itself,
 * each merged into the same root; then the files that are merged after the graph, in the same way. A missing file is
 * searched (find.h). Two paths are the same file if device and inode are equal. */
#include "base/input.h"
#include "document/document.h"
#include "document/find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is being read, and the files that include it. */
struct chain {
  const struct chain *includer;
  const char *named; /* name on the command line or in the including file */
  const char *path;  /* path of the file */
  int known;         /* 1: device and inode are known */
  dev_t device;
  ino_t inode;
};

static void unreadable(struct sl_reader *r, struct sl_mark mark, const char *path, const char *hint,
                       const char *reason) {
  if (mark.line == 0)
    sl_report_error(r, mark, NULL, hint, "%s", reason);
  else
    sl_report_error(r, mark, NULL, hint, "%s: %s", path, reason);
  r->unreadable = 1;
}

/* Returns a hint with the folders that were searched for a missing file; NULL if only its own path was tried. */
static const char *searched_folders(struct sl_reader *r, const struct chain *file) {
  if (!sl_graph_is_searched(file->named)) return NULL;
  char folder[PATH_MAX];
  const char *text = file->includer != NULL ? "next to the including file" : "in the current folder";
  for (size_t i = 0; sl_graph_folder(i, folder); i++)
    text = sl_arena_format(r->arena, "%s, in %s%s", text, folder, access(folder, F_OK) == 0 ? "" : " (no such folder)");
  return sl_arena_format(r->arena, "searched %s; add folders with SLUICE_GRAPH_PATH", text);
}

static ssize_t read_all(int file, char *buffer, size_t limit) {
  size_t bytes = 0;
  while (bytes <= limit) {
    const ssize_t got = read(file, buffer + bytes, limit + 1 - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    bytes += (size_t)got;
  }
  return (ssize_t)bytes;
}

static struct sl_text *text_from_file(struct sl_reader *r, const struct chain *source, struct sl_mark mark) {
  if (r->file_buffer == NULL) r->file_buffer = sl_arena_get(r->arena, SL_LIMIT_FILE_BYTES + 1, 1);
  char reason[128];
  const int file = sl_open_stream(source->path, reason, sizeof reason);
  ssize_t bytes = -1;
  if (file >= 0) {
    bytes = read_all(file, r->file_buffer, SL_LIMIT_FILE_BYTES);
    if (bytes < 0) snprintf(reason, sizeof reason, "%s", strerror(errno));
    close(file);
  }
  if (bytes < 0) {
    unreadable(r, mark, source->path, source->known ? NULL : searched_folders(r, source), reason);
    return NULL;
  }
  r->files[r->read_count++] = source->path;
  struct sl_text *text = sl_arena_get(r->arena, 1, sizeof *text);
  *text = (struct sl_text){.name = source->path, .bytes = (size_t)bytes};
  if (text->bytes <= SL_LIMIT_FILE_BYTES) text->text = sl_arena_text(r->arena, r->file_buffer, text->bytes);
  return text;
}

/* Returns the document of the file, or of the text given instead; NULL with the error reported. */
static struct sl_tree *read_document(struct sl_reader *r, const struct chain *file, struct sl_mark mark) {
  const struct sl_graph_request *request = r->request;
  const int is_graph = r->file_count == 1; /* the graph is read first */
  struct sl_text *text;
  if (is_graph && request->text != NULL) {
    text = sl_arena_get(r->arena, 1, sizeof *text);
    *text = (struct sl_text){.name = file->path, .text = request->text, .bytes = request->text_bytes};
  } else {
    text = text_from_file(r, file, mark);
  }
  if (text == NULL) return NULL;
  text->is_given = file->includer == NULL;
  if (text->bytes > SL_LIMIT_FILE_BYTES) {
    unreadable(r, mark, file->path, NULL, "the file is larger than 1 MiB");
    return NULL;
  }
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (text->bytes >= 3 && memcmp(text->text, byte_order_mark, 3) == 0) {
    text->text += 3;
    text->bytes -= 3;
  }
  struct sl_tree *document = sl_tree_read(r, text);
  if (document == NULL) r->unreadable = 1;
  return document;
}

/* Returns `path` relative to the including file; if that is NULL, `path` itself. */
static const char *relative_to(struct sl_reader *r, const struct chain *includer, const char *path) {
  const char *slash = includer != NULL ? strrchr(includer->path, '/') : NULL;
  if (*path == '/' || slash == NULL) return path;
  return sl_arena_format(r->arena, "%.*s%s", (int)(slash - includer->path + 1), includer->path, path);
}

/* Returns the path of the file. A graph given as text has only a name. */
static const char *find_path(struct sl_reader *r, const struct chain *includer, const char *named) {
  char found[PATH_MAX];
  const char *beside = relative_to(r, includer, named);
  if (r->file_count == 0 && r->request->text != NULL) return beside;
  const char *path = sl_graph_find(named, beside, found);
  return path == found ? sl_arena_format(r->arena, "%s", found) : path;
}

static int same_file(const struct chain *a, const struct chain *b) {
  if (a->known && b->known) return a->device == b->device && a->inode == b->inode;
  return strcmp(a->path, b->path) == 0;
}

/* Returns "a.yaml -> b.yaml -> a.yaml", from the outermost file of the cycle. */
static const char *cycle_text(struct sl_reader *r, const struct chain *file, const struct chain *first) {
  const char *text = file->path;
  for (const struct chain *c = file->includer;; c = c->includer) {
    text = sl_arena_format(r->arena, "%s -> %s", c->path, text);
    if (c == first) return text;
  }
}

/* Returns 1 if the file may be read where `mark` includes it; else reports the error. */
static int includable(struct sl_reader *r, struct chain *file, struct sl_mark mark) {
  struct stat status;
  file->known = stat(file->path, &status) == 0;
  if (file->known) {
    file->device = status.st_dev;
    file->inode = status.st_ino;
  }
  for (const struct chain *c = file->includer; c != NULL; c = c->includer) {
    if (!same_file(file, c)) continue;
    sl_report_error(r, mark, NULL, NULL, "files include each other: %s", cycle_text(r, file, c));
    r->unreadable = 1;
    return 0;
  }
  if (file->includer != NULL && file->known && !S_ISREG(status.st_mode)) {
    unreadable(r, mark, file->path, NULL, "not a regular file");
    return 0;
  }
  if (++r->file_count > SL_LIMIT_FILES) {
    if (r->file_count == SL_LIMIT_FILES + 1)
      sl_report_error(r, mark, NULL, NULL, "the graph reads more than %d files", SL_LIMIT_FILES);
    r->unreadable = 1;
    return 0;
  }
  return 1;
}

static void load_file(struct sl_reader *r, struct sl_tree *root, const struct chain *includer, const char *named,
                      struct sl_mark mark) {
  struct chain file = {.includer = includer, .named = named, .path = find_path(r, includer, named)};
  if (!includable(r, &file, mark)) return;
  struct sl_tree *document = read_document(r, &file, mark);
  if (document == NULL) return;
  sl_shape_check(r, document);
  if (document->kind != SL_TREE_MAP) return;
  const struct sl_tree *includes = sl_tree_get(document, "include");
  const int listed = includes != NULL && includes->kind == SL_TREE_LIST;
  for (const struct sl_entry *item = listed ? includes->first : NULL; item != NULL; item = item->next) {
    if (item->value == NULL) continue;
    if (strstr(item->value->text, "${") != NULL)
      unreadable(r, item->value->mark, item->value->text, NULL, "`include` cannot contain parameters");
    else
      load_file(r, root, &file, item->value->text, item->value->mark);
  }
  sl_merge(r, root, document);
}

void sl_load(struct sl_reader *r, struct sl_tree *root) {
  const struct sl_mark mark = sl_mark_graph(r);
  load_file(r, root, NULL, mark.text->name, mark);
  const char *const *with = r->request->with_paths;
  for (; with != NULL && *with != NULL; with++) load_file(r, root, NULL, *with, sl_mark_file(r, *with));
}

struct sl_tree *sl_load_document(struct sl_reader *r, const char *path) {
  struct chain file = {.named = path, .path = path};
  const struct sl_mark mark = sl_mark_file(r, path);
  return includable(r, &file, mark) ? read_document(r, &file, mark) : NULL;
}
