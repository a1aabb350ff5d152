// A network that a test can cut: a TCP proxy before the server, which knows nothing of it.
import { connect, createServer } from "node:net";

export async function cuttable(url) {
  const target = new URL(url);
  const open = new Set();
  let cut = false;
  const proxy = createServer((near) => {
    if (cut) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    cut: () => {
      cut = true;
      for (const socket of open) socket.destroy();
    },
    mend: () => {
      cut = false;
    },
    stop: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** forgive takes out of a page's complaints what a cut network says by itself. */
export function forgive(wrong, pattern) {
  wrong.splice(0, wrong.length, ...wrong.filter((w) => !pattern.test(w)));
}
