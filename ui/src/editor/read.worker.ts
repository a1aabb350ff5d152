import { read } from "../domain/document/read";

addEventListener("message", ({ data }: MessageEvent<{ id: number; text: string }>) => {
  postMessage({ id: data.id, reading: read(data.text) });
});
