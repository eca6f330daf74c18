"""Whether the opcodes of the data are those of the cubins: by nvdisasm, instruction by instruction.
Of the frozen half too, since opcodes are no counts."""
import concurrent.futures
import os
import re
import subprocess
import tempfile

import cubin
import fetch
import store

import report

LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?);")


def disassemble(code):
    """Opcode by instruction, of machine code alone: cubins of many kernels take nvdisasm long."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as f:
        f.write(code)
        f.flush()
        text = subprocess.run([fetch.tool("nvdisasm"), "-b", "SM90", f.name], capture_output=True, text=True,
                              check=False).stdout
    return {int(pc, 16) // cubin.INSTRUCTION: report.opcode_of(sass) for pc, sass in LINE.findall(text)}


def check_kernel(path, kernel, code_hash, opcodes):
    """How many instructions agree, and a message where something does not."""
    with open(path, "rb") as f:
        code = cubin.kernels(f.read())[kernel]
    if cubin.hash_of(code) != code_hash:
        return 0, f"{path}: other code of {kernel}"
    shown = disassemble(code)
    differing = [at for at, opcode in enumerate(opcodes) if opcode and shown.get(at) != opcode]
    if differing:
        at = differing[0]
        return 0, f"{path}: {kernel}: {len(differing)} opcodes differ, at {16 * at:#x} {opcodes[at]} and {shown.get(at)}"
    return sum(1 for opcode in opcodes if opcode), None


def tasks_of(which, half, folder):
    launches = store.read_launches(which, half)[1]
    opcodes = store.read_lines(store.path_of(which, half, "truth"))[0]["opcodes"]
    wanted = {(launch["cubin"], launch["kernel"], launch["code"]) for launch in launches}
    for hash_, kernel, code in sorted(wanted):
        yield os.path.join(folder, hash_ + ".cubin"), kernel, code, opcodes[code]


def check(folder, sets):
    tasks = [task for which in sets for half in store.HALVES for task in tasks_of(which, half, folder)]
    there = [task for task in tasks if os.path.exists(task[0])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda task: check_kernel(*task), there))
    for _, message in results:
        if message:
            print(message)
    agree = sum(1 for _, message in results if not message)
    print(f"{agree} of {len(there)} kernels agree, {sum(n for n, _ in results)} instructions; of {len(tasks) - len(there)} "
          "more there is no cubin in the folder")
    return 0 if agree == len(there) else 1
