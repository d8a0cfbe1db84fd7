"""Damages records of MDF files at random: banks, bank headers, record headers."""
import struct

import mdf

# Super-pixels (two types), retina clusters, SciFi clusters, muon chambers, the calorimeter (two types), ODIN, true particles and vertices, luminosity summaries, TAE, DAQ status, broken ones.
TYPES = (63, 8, 73, 64, 13, 21, 77, 16, 32, 33, 56, 48, 15, 89)
WORDS = (0, 1, 2, 3, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x7F800000, 0x7FC00000)
PAYLOAD_MAX = 0xFFF7


class Bank:
    """A raw bank that can be changed; `payload` is a bytearray."""

    def __init__(self, kind, version, source, payload):
        self.kind, self.version, self.source, self.payload = kind, version, source, bytearray(payload)

    def copy(self):
        return Bank(self.kind, self.version, self.source, self.payload)

    def text(self):
        return mdf.bank_bytes(self.kind, self.version, self.source, self.payload)


def with_event_type(record, event_type):
    """The record, with another event type in its ODIN bank and no checksum."""
    at = next(at for kind, _, _, at, _ in mdf.banks(record) if kind == mdf.BANK_ODIN)
    changed = bytearray(record)
    struct.pack_into("<H", changed, at + 4, event_type)
    struct.pack_into("<I", changed, 12, 0)
    return bytes(changed)


# ------------------------------------------------------------------------------------------- one bank
def flip_bits(draw, bank):
    for _ in range(draw.choice((1, 1, 2, 8))):
        if bank.payload:
            bank.payload[draw.randrange(len(bank.payload))] ^= 1 << draw.randrange(8)


def set_word(draw, bank, at=None):
    if len(bank.payload) >= 4:
        at = draw.randrange(len(bank.payload) // 4) if at is None else at
        value = draw.choice((draw.choice(WORDS), draw.getrandbits(32)))
        struct.pack_into("<I", bank.payload, 4 * at, value)


def set_count(draw, bank):
    if len(bank.payload) >= 4 and draw.random() < 0.7:
        count = struct.unpack_from("<I", bank.payload)[0] + draw.choice((-1, 1, 1, 2, 3, draw.randrange(1000), 1 << 30))
        struct.pack_into("<I", bank.payload, 0, count & 0xFFFFFFFF)
    else:
        set_word(draw, bank, 0)


def cut(draw, bank):
    del bank.payload[draw.randrange(len(bank.payload) + 1):]


def lengthen(draw, bank):
    bank.payload += draw.randbytes(min(draw.choice((1, 3, 4, 8, 400)), PAYLOAD_MAX - len(bank.payload)))


def repeat(draw, bank):
    """Repeats the words after the count, and adjusts the count."""
    words = bank.payload[4:] * draw.choice((2, 10, 1000))
    words = words[:(PAYLOAD_MAX - 4) // 4 * 4]
    bank.payload = bytearray(struct.pack("<I", len(words) // 4) + words)


def fill(draw, bank):
    """Replaces the words by the same or a larger number of random words."""
    count = draw.choice((len(bank.payload) // 4, 50, 1000))
    bank.payload = bytearray(struct.pack("<I", count) + draw.randbytes(4 * count))


def set_version(draw, bank):
    bank.version = draw.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 255, draw.randrange(256)))


def set_source(draw, bank):
    bank.source = draw.choice((0, bank.source ^ 1, 208, 0x1000, 0x17FF, 0xFFFF, draw.randrange(208, 1024), draw.randrange(65536)))


def set_kind(draw, bank):
    bank.kind = draw.choice((*TYPES, draw.randrange(256)))


ONE_BANK = (flip_bits, set_word, set_count, set_count, set_count, cut, lengthen, repeat, fill, set_version, set_source, set_kind)


# ---------------------------------------------------------------------------------------- whole events
def change_one(draw, banks):
    """Changes one bank, often the last of its type, which is followed by another event or the end of the file. VELO banks are
    only twice as likely as each other type, although there are 208 of them."""
    if banks:
        kinds = {bank.kind for bank in banks}
        kind = draw.choice(sorted(kinds) + sorted(kinds & {63, 73}))
        of_kind = [bank for bank in banks if bank.kind == kind]
        draw.choice(ONE_BANK)(draw, draw.choice((of_kind[-1], draw.choice(of_kind), draw.choice(of_kind))))


def change_many(draw, banks):
    change, kind = draw.choice(ONE_BANK), draw.choice(TYPES)
    for bank in banks:
        if bank.kind == kind and draw.random() < 0.5:
            change(draw, bank)


def set_versions(draw, banks):
    """Changes the version of all banks of a type."""
    kind, version = draw.choice(TYPES[:10]), draw.randrange(9)
    for bank in banks:
        if bank.kind == kind:
            bank.version = version


def pair_up(draw, banks):
    """Converts banks to version 4, with two sensors per bank and no count."""
    kind = draw.choice((63, 73))
    banks[:] = [b for b in banks if b.kind != kind or b.source < 104]
    for bank in banks:
        if bank.kind == kind:
            bank.version, bank.payload = 4, bank.payload[4:]


def change_order(draw, banks):
    draw.shuffle(banks)


def drop_one(draw, banks):
    if banks:
        banks.pop(draw.randrange(len(banks)))


def drop_kind(draw, banks):
    kind = draw.choice(TYPES[:10])
    banks[:] = [bank for bank in banks if bank.kind != kind]


def double_one(draw, banks):
    if banks:
        banks.insert(draw.randrange(len(banks) + 1), draw.choice(banks).copy())


def swap_sources(draw, banks):
    if banks:
        a, b = draw.choice(banks), draw.choice(banks)
        a.source, b.source = b.source, a.source


EVENT = (*[change_one] * 12, change_many, change_many, set_versions, pair_up, change_order, drop_one, drop_kind, double_one, swap_sources)


# ---------------------------------------------------------------------------------------------- the record
def damage_bank_header(draw, record):
    """Changes the magic number or length of a bank, so that the banks after it cannot be found."""
    places = [at - 8 for _, _, _, at, _ in mdf.banks(record)]
    if places:
        struct.pack_into("<H", record, draw.choice(places) + draw.choice((0, 2)), draw.choice((0, 4, 7, 8, 12, 0xFFFF, draw.randrange(65536))))


def damage_body(draw, record):
    for _ in range(draw.choice((1, 4, 64))):
        if len(record) > mdf.HEADER_BYTES:
            record[draw.randrange(mdf.HEADER_BYTES, len(record))] = draw.randrange(256)


def damage_record_header(draw, record):
    if draw.random() < 0.5:
        record[draw.randrange(mdf.HEADER_BYTES)] ^= 1 << draw.randrange(8)
    else:
        struct.pack_into("<I", record, 4 * draw.randrange(5), draw.choice((*WORDS, draw.getrandbits(32))))


def damaged_record(draw, record, header_too):
    banks = [Bank(kind, version, source, payload) for kind, version, source, _, payload in mdf.banks(record)]
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        draw.choice(EVENT)(draw, banks)
    changed = bytearray(mdf.with_body(record, b"".join(bank.text() for bank in banks)))
    chance = draw.random()
    if chance < 0.08:
        damage_bank_header(draw, changed)
    elif chance < 0.14:
        damage_body(draw, changed)
    elif chance < 0.2 and header_too:
        damage_record_header(draw, changed)
    return bytes(changed)


def of_some(draw, sound):
    """The records, most of them damaged. The header of the first record, which identifies the file, is unchanged."""
    return [damaged_record(draw, record, index > 0) if draw.random() < 0.7 else record for index, record in enumerate(sound)]


def of_bytes(draw, pieces):
    """Pieces of a file of packets with a few wrong bytes, anywhere or at the begin of a block. The first piece, which identifies
    the file, is unchanged."""
    damaged = [bytearray(piece) for piece in pieces]
    places = [(index, at) for index, piece in enumerate(pieces) if index > 0 for at in range(len(piece) - 1) if piece[at:at + 2] == b"\xCE\x40"]
    for _ in range(draw.choice((1, 4, 16, 64))):
        index = draw.randrange(1, len(pieces))
        at = draw.randrange(len(pieces[index]))
        if draw.random() < 0.5:
            index, at = draw.choice(places)
            at = min(at + draw.randrange(40), len(pieces[index]) - 1)
        damaged[index][at] = draw.choice((0, 1, 255, draw.randrange(256)))
    return [bytes(piece) for piece in damaged]
