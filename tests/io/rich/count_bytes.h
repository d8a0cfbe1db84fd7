/* count_bytes.h: a kernel that counts the banks of each event and their bytes. The including plugin defines
 * COUNTED_BANKS, the collection. One thread per event. */
#include <sluice/kernel.h>

#define COUNTED_BYTES_FIELDS(F)                   \
  F(banks, u32, PER_EVENT, "", "number of banks") \
  F(bytes, u32, PER_EVENT, "byte", "size of all payloads")
SL_COLLECTION(counted_bytes, COUNTED_BYTES_FIELDS, "number and size of the banks of an event");

#define VIEW_OF_(collection) collection##_view
#define VIEW_OF(collection)  VIEW_OF_(collection)
#define IN_(member, ...)     SL_IN(member, __VA_ARGS__)

struct count_bytes_args {
  struct sl_events events;
  struct VIEW_OF(COUNTED_BANKS) banks;
  struct counted_bytes counted;
};
#define SL_ARGS count_bytes_args
static const struct sl_member count_bytes_members[] = {
    SL_EVENTS(),
    IN_(banks, COUNTED_BANKS, "offsets size_bytes", "any"),
    SL_OUT(counted, counted_bytes, "number of bytes in each event"),
};

SL_KERNEL(count_all, struct count_bytes_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t begin = a.banks.offsets[event], end = a.banks.offsets[event + 1];
    uint32_t bytes = 0;
    for (uint32_t i = begin; i < end; i++) bytes += a.banks.size_bytes[i];
    a.counted.banks[event] = end - begin;
    a.counted.bytes[event] = bytes;
  }
}

static int run(const struct sl_launch *l, const struct count_bytes_args *a) {
  return SL_LAUNCH(l, count_all, SL_THREAD_PER_EVENT, *a);
}

SL_ALGORITHM(count_bytes, "counts the bytes of banks", 64, run);
