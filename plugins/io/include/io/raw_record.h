/* raw_record.h: the whole record of each event as it was read, for nodes that pass events on. Sinks write it byte by
 * byte, including banks unknown to the graph.
 *
 * A source of raw events has the output `record` (IO_RAW_RECORD_OUT in its table of arguments) and fills it with
 * bank_packer.h. Records cost nothing if no sink reads them, and are never copied to a device.
 *
 * A record is a record of an MDF file (README.md): header and body, compressed or not, with its checksum. A source
 * without MDF records sets header_bytes = 0: the record is a sequence of banks, each padded to a word.
 *
 * An event that cannot be read also has its record if the extent of the record is certain. It is unchanged, including a
 * wrong checksum or bank, so that no reader takes a copy of it for a sound one. */
#ifndef IO_RAW_RECORD_H
#define IO_RAW_RECORD_H

#include <sluice/plugin.h>

#define IO_RAW_RECORD_FIELDS(F)                                                                 \
  F(offsets, u32, OFFSETS, "", "first record of each event, which has one record or none")      \
  F(header_bytes, u32, PER_ITEM, "byte", "size of the MDF header of the record; 0: banks only") \
  F(size_bytes, u32, PER_ITEM, "byte", "size of the record, including its header")              \
  F(first_word, u32, PER_ITEM, "word", "first word of the record in `data`")                    \
  F(data, u32, BYTES, "", "records, each padded with zeros to a word")
SL_COLLECTION(io_raw_record, IO_RAW_RECORD_FIELDS, "whole records of events as they were read");

/* Limit and mean of one event. The limit is far above all events of the experiment, so that a copy loses none. */
enum { IO_RECORD_WORDS_LIMIT = 1 << 23, IO_RECORD_WORDS_AVERAGE = 1 << 15 };

#define IO_RAW_RECORD_OUT(M)                                                                                          \
  M(OUT, record, io_raw_record, "the whole record of each event, for sinks of raw data",                              \
    SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))), SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(record_words, IO_RECORD_WORDS_LIMIT)))) \
  M(BUDGET, record_words, IO_RECORD_WORDS_AVERAGE, 0, 1 << 28, "mean number of 32-bit words of a record, over a slice")

#endif
