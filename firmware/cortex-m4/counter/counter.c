/* A plugin for QEMU 7.2 and later that counts the instructions a program executes between two
 * marks.
 *
 * The marks are hints without effect: `dbg #1` begins an operation and `dbg #2` ends it. At each
 * end the plugin writes to its output file
 *
 *     operation TAKEN TRACE                                TAKEN counts all taken branches
 *     ADDRESS SIZE ENCODING EXECUTIONS LOADS STORES        a line for each instruction that was executed
 *
 * LOADS and STORES count words (or bytes): an `ldm` of four registers counts four for each
 * execution. ENCODING is the halfwords of the instruction in hexadecimal, in their order. The
 * reader of the file attributes the instructions to functions and classes.
 *
 * TRACE is a hash, in hexadecimal, of all taken branches and all accesses to memory, in their
 * order. A branch counts with its source and target, an access with its instruction, its address,
 * and whether it loads or stores. Two runs have the same hash unless one of them branches
 * differently or touches other addresses. The effect of a conditional instruction without access is
 * not part of it.
 *
 * Arguments: out=FILE. Code must lie below 4 MiB.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of QEMU's plugin interface that this plugin uses. */
#define EXPORT __attribute__((visibility("default")))
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum { INLINE_ADD_U64 = 0 };
enum { CB_NO_REGS = 0 };
enum { MEM_READ_OR_WRITE = 3 };
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int op, void *, uint64_t);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int flags,
                                      int rw, void *);
_Bool qemu_plugin_mem_is_store(uint32_t);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);

EXPORT int qemu_plugin_version = 1;

#define CODE_BYTES (4u << 20)
#define INSTRUCTIONS (CODE_BYTES / 2)

struct instruction {
    uint64_t executions, loads, stores;
    uint16_t halfwords[2];
    uint16_t size;
};

/* All instructions, by address. Code does not change while it runs. */
static struct instruction instructions[INSTRUCTIONS];
static FILE *out;
static uint64_t taken, trace;
/* The end of the block that ran last, where execution continues unless a branch is taken. */
static uint64_t expected;

/* Adds a value to the trace. */
static void hash(uint64_t value) {
    trace = (trace ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    trace ^= trace >> 32;
}

/* Begins an operation, at its mark. */
static void begin(unsigned cpu, void *data) {
    (void)cpu, (void)data;
    for (size_t i = 0; i < INSTRUCTIONS; i++)
        instructions[i].executions = instructions[i].loads = instructions[i].stores = 0;
    taken = trace = 0;
}

/* Ends an operation, at its mark, and writes its counts. */
static void end(unsigned cpu, void *data) {
    (void)cpu, (void)data;
    fprintf(out, "operation %" PRIu64 " %016" PRIx64 "\n", taken, trace);
    for (size_t i = 0; i < INSTRUCTIONS; i++) {
        const struct instruction *in = &instructions[i];
        if (in->executions)
            fprintf(out, "%zx %u %04x%04x %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", 2 * i, in->size, in->halfwords[0],
                    in->size == 4 ? in->halfwords[1] : 0, in->executions, in->loads, in->stores);
    }
    fflush(out);
}

/* Counts an access of either kind: QEMU 7.2 confuses reads and writes if a callback asks for one
 * kind alone. */
static void access(unsigned cpu, uint32_t info, uint64_t address, void *data) {
    (void)cpu;
    struct instruction *in = data;
    hash((uint64_t)(in - instructions));
    hash(address << 1 | qemu_plugin_mem_is_store(info));
    if (qemu_plugin_mem_is_store(info))
        in->stores++;
    else
        in->loads++;
}

/* A block of code, which always runs from its first to its last instruction. */
struct block {
    uint64_t begin, end;
};

/* Follows execution into a block. */
static void enter(unsigned cpu, void *data) {
    (void)cpu;
    const struct block *block = data;
    if (block->begin != expected) {
        taken++;
        hash(expected);
        hash(block->begin);
    }
    expected = block->end;
}

/* Watches the instructions of a block that QEMU has translated. */
static void translated(plugin_id id, struct qemu_plugin_tb *tb) {
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *block = malloc(sizeof *block);
    block->begin = block->end = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t address = qemu_plugin_insn_vaddr(insn);
        if (address >= CODE_BYTES) {
            fprintf(stderr, "counter: code at %" PRIx64 ", not below 4 MiB\n", address);
            exit(1);
        }
        struct instruction *in = &instructions[address / 2];
        in->size = (uint16_t)qemu_plugin_insn_size(insn);
        memcpy(in->halfwords, qemu_plugin_insn_data(insn), in->size);
        block->end = address + in->size;
        if (in->size == 4 && in->halfwords[0] == 0xf3af && in->halfwords[1] == 0x80f1)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, CB_NO_REGS, NULL);
        else if (in->size == 4 && in->halfwords[0] == 0xf3af && in->halfwords[1] == 0x80f2)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, end, CB_NO_REGS, NULL);
        else {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &in->executions, 1);
            qemu_plugin_register_vcpu_mem_cb(insn, access, CB_NO_REGS, MEM_READ_OR_WRITE, in);
        }
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, enter, CB_NO_REGS, block);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], "out=", 4))
            out = fopen(argv[i] + 4, "w");
    if (!out) {
        fprintf(stderr, "counter: needs out=FILE, a file that can be written\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
