/* mdf_walk.c: see mdf_walk.h. */
#include "mdf_walk.h"

#include "mdf_checksum.h"
#include "mep.h"
#include "mep_file.h"

int mdf_walk_recognise(const uint8_t *data, uint64_t size, uint32_t data_type, uint32_t *is_bare) {
  *is_bare = 0;
  if (data_type != MDF_DATA_MEP) return mdf_recognise(data, size);
  if ((size < 2 || mdf_load_u16(data) != MEP_MAGIC) && mdf_recognise(data, size)) return 1;
  *is_bare = mep_recognise(data, size) != 0;
  return (int)*is_bare;
}

int mdf_walk_next(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record) {
  return is_bare ? mep_next(reader, record) : mdf_next(reader, record);
}

void mdf_walk_check(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record) {
  const uint8_t *bytes = reader->data + record->offset;
  if (is_bare || record->fault.kind != MDF_FAULT_NONE || record->is_verified) return;
  if (mdf_contents_verify(bytes, record)) return;
  if (record->checksum == 0 ||
      mdf_checksum(bytes + MDF_HASHED_FROM, record->bytes - MDF_HASHED_FROM) != record->checksum)
    mdf_cut_damaged(reader, record);
}

int mdf_walk_begins(const uint8_t *data, uint64_t size, uint32_t is_bare, uint64_t offset) {
  struct mdf_record record;
  struct mep_packet packet;
  struct mdf_fault fault;
  if (offset >= size) return 0;
  if (!is_bare) return mdf_record_at(data, size, offset, &record);
  return size - offset >= MEP_HEADER_BYTES && mdf_load_u16(data + offset) == MEP_MAGIC &&
         mep_packet_open(data + offset, size - offset, &packet, &fault) == 0;
}

int mdf_walk_has_type(const struct mdf_record *record, uint32_t data_type, uint32_t is_bare, const uint8_t *body) {
  if (data_type != MDF_DATA_MEP) return record->data_type != MDF_DATA_MEP;
  return is_bare || record->data_type == MDF_DATA_MEP ||
         (record->bytes - record->header_bytes >= 2 && mdf_load_u16(body) == MEP_MAGIC);
}
