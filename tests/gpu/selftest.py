"""Tests of the checker itself. They need no compiler: python3 tests/gpu/selftest.py"""

import sys
import unittest

import assembly
from architecture import occupancy
from rows import rows_of

SASS = """
	code for sm_80
		Function : twice
        /*0000*/                   MOV R1, c[0x0][0x28] ;           /* 0x00000a0000017a02 */
                                                                    /* 0x000fe40000000f00 */
        /*0010*/                   LDG.E.128 R4, [R2.64] ;          /* 0x0000000402047981 */
        /*0020*/                   HFMA2.MMA R3, -RZ, RZ, 1.75, 0 ; /* 0x000000ffff037435 */
        /*0030*/                   FFMA R4, R4, R5, R6 ;            /* 0x0000000504047223 */
        /*0040*/                   FFMA R4, R4, R5, R6 ;            /* 0x0000000504047223 */
        /*0050*/                   LDS.128 R8, [R7] ;               /* 0x0000000007087984 */
        /*0060*/                   HMMA.16816.F32 R4, R4, R8, R4 ;  /* 0x000000080404723c */
        /*0070*/              @!P0 BRA 0x30 ;                       /* 0xffffffb000008947 */
        /*0080*/               @P1 BRA 0x10 ;                       /* 0xffffff8000001947 */
        /*0090*/                   EXIT ;                           /* 0x000000000000794d */
        /*00a0*/                   BRA 0xa0;                        /* 0xfffffff000007947 */
"""
GCN = """twice:                                  ; @twice
; %bb.0:
	s_load_dwordx2 s[0:1], s[4:5], 0x0
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
	ds_read_b128 v[0:3], v4
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v5, v0, v1
	v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3]
	s_cbranch_scc1 .LBB0_1
; %bb.2:
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel twice
; NumVgprs: 8
; ScratchSize: 0
"""
IGA = """L0:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
L16:
        sends (16|M0)            r5       r3       null:0     0x0  0x4A0A0FE  // wr:2+0, rd:4; untyped surface read, slm
        mad (16|M0)              r9.0<1>:f    r9.0<0;0>:f       r9.1<0;0>:f       r9.0<0>:f
        mad (16|M16)             r9.0<1>:d    r9.0<0;0>:d       r9.1<0;0>:d       r9.0<0>:d
        while (32|M0)                        L16
        send (8|M0)              null     r112     0x27  0x2000010  // wr:1+0, rd:0; end of thread eot
"""

LLVM = """define dso_local spir_kernel void @twice(ptr addrspace(1) %0) local_unnamed_addr #0 !reqd_work_group_size !10 {
define dso_local spir_kernel void @once(ptr addrspace(1) %0) local_unnamed_addr #0 !kernel_arg_addr_space !11 {
!10 = !{i32 32, i32 8, i32 1}
!11 = !{i32 1, i32 1, i32 0}
"""
PTX = """.visible .entry once(
	.param .u64 once_param_0
)
{
.visible .entry twice(
	.param .u64 twice_param_0
)
{
"""


def counts(code):
    return {name: number for name, number in assembly.count(code).items() if number}


class Loops(unittest.TestCase):
    def test_sass(self):
        code = assembly.read_sass(SASS)["twice"]
        self.assertEqual(len(code), 11)
        loop = counts(assembly.inner_loop(code))
        self.assertEqual(loop, {"total": 5, "fma": 2, "matrix": 1, "local": 1, "control": 1})
        self.assertEqual(counts(code)["alu"], 2)  # MOV, and an HFMA2.MMA that makes a constant.

    def test_gcn(self):
        code, figures = assembly.read_gcn(GCN)["twice"]
        self.assertEqual(figures["NumVgprs"], 8)
        loop = counts(assembly.inner_loop(code))
        self.assertEqual(loop, {"total": 5, "fma": 1, "matrix": 1, "local": 1, "control": 2})

    def test_iga(self):
        code, lanes = assembly.read_iga(IGA)
        self.assertEqual(lanes, 32)
        loop = counts(assembly.inner_loop(code))
        self.assertEqual(loop, {"total": 4, "fma": 1, "alu": 1, "local": 1, "control": 1})

    def test_none(self):
        self.assertIsNone(assembly.inner_loop(assembly.read_sass(SASS.replace("BRA 0x30", "NOP").replace("BRA 0x10", "NOP"))["twice"]))


class RequiredSizes(unittest.TestCase):
    def test_from_llvm_to_ptx(self):
        required = assembly.required_sizes(LLVM)
        self.assertEqual(required, {"twice": [32, 8, 1]})
        ptx = assembly.with_required_sizes(PTX, required)
        self.assertEqual(ptx, PTX.replace("twice_param_0\n)", "twice_param_0\n)\n.reqntid 32, 8, 1"))


class Occupancy(unittest.TestCase):
    def test_nvidia(self):  # Values of NVIDIA's occupancy calculator.
        self.assertEqual(occupancy("sm_80", 96, 8320, 256, 32), (2, 0.25))
        self.assertEqual(occupancy("sm_80", 32, 0, 1024, 32), (2, 1.0))
        self.assertEqual(occupancy("sm_75", 255, 0, 1024, 32)[0], 0)
        self.assertEqual(occupancy("sm_90", 32, 48 << 10, 128, 32)[0], 4)

    def test_amd(self):
        self.assertEqual(occupancy("gfx90a", 128, 0, 256, 64), (4, 0.5))
        self.assertEqual(occupancy("gfx1030", 64, 32 << 10, 256, 32)[0], 4)

    def test_intel(self):
        self.assertEqual(occupancy("dg2", 128, 0, 256, 16), (8, 1.0))


class Problems(unittest.TestCase):
    FIGURES = dict(registers=32, spills=0, private=0, local=0, required=None, simd=32, all={}, loop=None)

    def problems(self, known=(), group=(64,), **figures):
        device = dict(name="a GPU", local_memory=32 << 10, max_work_group=256)
        launch = dict(local=list(group), local_argument_bytes=0, part=0, times=1)
        program = dict(file="k.cl", kernels=[dict(name="k", launches=[launch])])
        index = dict(device=device, parts=["a case"])
        result = {"kernels": {"k": dict(self.FIGURES, **figures)}}
        (row,) = rows_of(index, program, "sm_80", result, list(known))
        return row["problems"]

    def test_none(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.problems(required=[64, 1, 1]), [])
        self.assertEqual(self.problems(spills=8, known=[("k", "sm_80")]), [])

    def test_each(self):
        self.assertIn("spills", self.problems(spills=8)[0])
        self.assertIn("spills", self.problems(spills=8, known=[("k", "sm_90")])[0])
        self.assertIn("local memory", self.problems(local=40 << 10)[0])
        self.assertIn("work-items", self.problems(group=(512,))[0])
        self.assertIn("attribute", self.problems(required=[128, 1, 1])[0])
        self.assertIn("fits on no unit", self.problems(group=(256,), registers=600)[0])

    def test_errors(self):
        index = dict(device=dict(name="a GPU"), parts=["a case"])
        program = dict(file="k.cl", kernels=[dict(name="k", launches=[dict(part=0)])])
        (row,) = rows_of(index, program, "sm_80", {"error": "no such function"}, [])
        self.assertEqual(row["problems"], ["no such function"])
        (row,) = rows_of(index, program, "sm_80", {"kernels": {}}, [])
        self.assertEqual(row["problems"], ["the compiled program has no such kernel"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
