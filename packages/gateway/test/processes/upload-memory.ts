// Takes a form of 20 MB from itself and prints the most bytes of buffers that were alive at once. Run with --expose-gc.
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { BodyMemory } from "../../src/limits/body-memory.ts";
import { readUpload } from "../../src/relay/body/upload.ts";

const PIECE = Buffer.alloc(64 * 1024, 7);
const PIECES = 320;
/** Samples for uploads and for downloads. */
const SAMPLES = 10;
const collectGarbage = (globalThis as unknown as { gc: () => void }).gc;

/** Buffers are freed in the background; a second round waits for the first. */
function liveBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

const TRANSCRIPTION = { operation: "audio.transcriptions", dialect: "openai-audio" } as const;
const start = liveBytes();
let held = 0;

/** By bytes, not by time: on a busy machine nothing else would run between two collections. */
function look(bytes: number): void {
  if (bytes % ((PIECES * PIECE.length) / SAMPLES) < PIECE.length) held = Math.max(held, liveBytes() - start);
}

const server = createServer((request, response) => {
  readUpload(request, TRANSCRIPTION, { minBytesPerSecond: 0, memory: new BodyMemory(0) })
    .then(async (upload) => {
      let size = 0;
      for await (const chunk of upload.open(new Map([["model", "another"]])).body) {
        size += (chunk as Buffer).length;
        look(size);
      }
      await upload.dispose();
      response.end(JSON.stringify({ held, size }));
    })
    .catch((error: unknown) => response.end(String(error)));
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const call = send({ port, host: "127.0.0.1", method: "POST", headers }, (answer) => {
    answer.pipe(process.stdout);
    answer.on("end", () => server.close().closeAllConnections());
  });
  call.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n');
  let sent = 0;
  const more = () => {
    while (sent < PIECES) {
      look(sent * PIECE.length);
      sent++;
      if (!call.write(PIECE)) return void call.once("drain", more);
    }
    call.end("\r\n--b--\r\n");
  };
  more();
});
