// Lays a .br and a .gz beside every file of the build that gets smaller by it; the server
// sends them to whoever takes them. The index is left out: the server writes its base into it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/app/", import.meta.url).pathname;
/** least is where the headers of a compressed answer cost what it saves. */
const least = 512;
const texts = /\.(js|css|svg|json|txt|webmanifest|wasm)$/;

let [before, after] = [0, 0];
for (const name of readdirSync(dist, { recursive: true })) {
  if (!texts.test(name)) continue;
  const data = readFileSync(dist + name);
  if (data.length < least) continue;
  const small = brotliCompressSync(data, {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  });
  const gzip = gzipSync(data, { level: constants.Z_BEST_COMPRESSION });
  if (small.length < data.length) writeFileSync(`${dist}${name}.br`, small);
  if (gzip.length < data.length) writeFileSync(`${dist}${name}.gz`, gzip);
  before += data.length;
  after += small.length;
}
console.log(`compressed ${(before / 1024).toFixed(0)} KiB to ${(after / 1024).toFixed(0)} KiB (brotli)`);
