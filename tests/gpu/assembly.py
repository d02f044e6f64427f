"""Reads and classifies instructions of assembled kernels, and finds the loop in which a kernel spends its time."""

import re
from collections import Counter

CLASSES = ("fma", "matrix", "alu", "local", "global", "private", "control")

# Patterns of mnemonics by vendor. The first match gives the class; without a match, the class is "alu".
PATTERNS = {
    "nvidia": [
        ("matrix", r"[A-Z]*MMA\b(?!.*RZ, RZ)|[HIQ]GMMA"),
        ("fma", r"[FDH]FMA2?\b"),
        ("private", r"(LDL|STL)\b"),
        ("local", r"(LDS|STS|LDSM|STSM|ATOMS)\b"),
        ("global", r"(LDG|STG|LD|ST|LDGSTS|RED|ATOM|ATOMG|CCTL|LDGDEPBAR|UBLKCP|UTMALDG)\b"),
        ("control", r"(BRA|BRX|JMP|BSSY|BSYNC|BREAK|EXIT|RET|CALL|BAR|DEPBAR|WARPSYNC|NOP|YIELD|MEMBAR|ERRBAR|SYNCS)\b"),
    ],
    "amd": [
        ("matrix", r"v_(mfma|wmma|smfmac|swmmac)"),
        ("fma", r"v_(dual_)?(pk_)?(fma|fmac|fmamk|fmaak|mac|mad_f|madmk|madak|dot)|.*:: v_dual_fmac"),
        ("private", r"scratch_"),
        ("local", r"ds_"),
        ("global", r"(global|flat|buffer|tbuffer|image)_"),
        ("control", r"s_(branch|cbranch|barrier|wait|endpgm|setpc|swappc|getpc|delay|nop|sleep|sethalt|inst_prefetch|clause|set_inst)"),
    ],
    "intel": [
        ("matrix", r"dpasw?\b"),
        ("fma", r"(mad|mac|mach|madm|dp4a)\b(?=.*:(f|hf|bf|df)\b)"),
        ("private", r"sends?c?\b.*scratch"),
        ("local", r"sends?c?\b.*(slm|SLM|0x[0-9A-F]{6}FE\b)"),  # Surface 254 of a data port's message.
        ("control", r"(jmpi|goto|while|join|if|else|endif|break|cont|halt|call|ret|brd|brc|sync|nop|wait|illegal)\b|sends?c?.*(gtwy|gateway|barrier|eot|end of thread)"),
        ("global", r"sends?c?\b"),
    ],
}
COMPILED = {vendor: [(name, re.compile(pattern)) for name, pattern in rows] for vendor, rows in PATTERNS.items()}


def class_of(vendor, text):
    if vendor == "nvidia" and re.match(r"HFMA2\.MMA\b|HFMA2\b.*-RZ, RZ", text):
        return "alu"  # This assembler makes constants in this way.
    for name, pattern in COMPILED[vendor]:
        if pattern.match(text):
            return name
    return "alu"


class Instruction:
    """`label` is its position. `target` is the position to which it may jump, or None."""

    __slots__ = ("label", "target", "kind", "text")

    def __init__(self, vendor, label, target, text):
        self.label, self.target, self.text = label, target, text
        self.kind = class_of(vendor, text)


def inner_loop(code):
    """Chooses among the loops that contain no other loop: the one with the most multiply-adds, then the most memory
    accesses, then the greatest length. None without loops."""
    position = {}
    for at, instruction in enumerate(code):
        if instruction.label is not None:
            position.setdefault(instruction.label, at)
    loops = set()
    for at, instruction in enumerate(code):
        begin = position.get(instruction.target)
        if begin is not None and begin < at:  # A jump to itself is padding after the end.
            loops.add((begin, at))
    innermost = [one for one in loops if not any(one != other and one[0] <= other[0] and other[1] <= one[1] for other in loops)]
    if not innermost:
        return None
    def weight(loop):
        kinds = Counter(instruction.kind for instruction in code[loop[0] : loop[1] + 1])
        return kinds["fma"] + kinds["matrix"], kinds["global"] + kinds["local"], loop[1] - loop[0]
    begin, end = max(innermost, key=weight)
    return code[begin : end + 1]


def count(code):
    """Counts instructions: {"total": …, "fma": …, …}, or None if `code` is None."""
    if code is None:
        return None
    kinds = Counter(instruction.kind for instruction in code)
    return {"total": len(code), **{name: kinds[name] for name in CLASSES}}


def required_sizes(code):
    """Reads {kernel: [x, y, z]} from reqd_work_group_size in clang's LLVM assembly."""
    sizes = {number: [int(size) for size in re.findall(r"i32 (\d+)", node)]
             for number, node in re.findall(r"^!(\d+) = !\{((?:i32 \d+(?:, )?){3})\}", code, re.M)}  # fmt: skip
    return {name: sizes[number] for name, number in
            re.findall(r"^define .*? spir_kernel void @(\w+)\(.*!reqd_work_group_size !(\d+)", code, re.M)}  # fmt: skip


def with_required_sizes(ptx, required):
    """Adds .reqntid to a program. The driver writes it and clang does not. With it, ptxas may use as many registers per
    work-item as a work-group of this size can have."""
    def add(entry):
        return f"{entry[0]}\n.reqntid {', '.join(map(str, required[entry[1]]))}" if entry[1] in required else entry[0]

    return re.sub(r"\.entry (\w+)\([^)]*\)", add, ptx)


def read_sass(text):
    """Reads {kernel: [Instruction]} from the output of `cuobjdump -sass`."""
    kernels, code = {}, None
    for line in text.splitlines():
        if found := re.search(r"Function : (\S+)", line):
            code = kernels.setdefault(found[1], [])
        elif found := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?\s*(.+?)\s*;", line):
            branch = re.match(r"(?:BRA|JMP)\S*.*?0x([0-9a-f]+)$", found[2])
            code.append(Instruction("nvidia", int(found[1], 16), int(branch[1], 16) if branch else None, found[2]))
    return kernels


def read_gcn(text):
    """Reads {kernel: ([Instruction], {figures of the footer})} from clang's assembly for AMD."""
    kernels, names = {}, set(re.findall(r"^\s*\.amdhsa_kernel (\S+)", text, re.M))
    code, label, figures = None, None, {}
    for line in text.splitlines():
        if found := re.match(r"(\w[\w.$]*):", line):
            if found[1] in names:
                code, figures, label = [], {}, None
                kernels[found[1]] = (code, figures)
        elif found := re.match(r"(\.LBB\S+):", line):
            label = found[1]
        elif found := re.match(r"; (\w+): (\d+)", line):
            figures.setdefault(found[1], int(found[2]))
        elif code is not None and (found := re.match(r"\t([a-z]\w+.*?)\s*(?:;.*)?$", line)):
            branch = re.match(r"s_c?branch\S*\s+(\.LBB\S+)", found[1])
            code.append(Instruction("amd", label, branch[1] if branch else None, found[1]))
            label = None
    return kernels


def read_iga(text):
    """Reads ([Instruction], lanes of a thread) from a kernel that ocloc disassembled."""
    code, label, simd = [], None, 8
    for line in text.splitlines():
        if found := re.match(r"(L\d+):", line):
            label = found[1]
            continue
        found = re.match(r"\s*(\([^)]*\))?\s*([a-z]\w*(?:\.\w+)*)(.*)", line)
        if not found:
            continue
        if width := re.search(r"\((\d+)\|M(\d+)\)", found[3]):
            simd = max(simd, int(width[1]) + int(width[2])) if "W" not in (found[1] or "") else simd
        branch = None
        if found[2] in ("jmpi", "while", "goto"):
            branch = re.findall(r"\bL\d+\b", found[3])
        # goto names two places: where the lanes that jump meet, and where to continue when all lanes jump.
        target = branch[-1] if branch else None
        code.append(Instruction("intel", label, target, found[2] + found[3]))
        label = None
    return code, simd
