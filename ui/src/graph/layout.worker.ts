import { place, type Shape } from "./layout";

self.addEventListener("message", (event: MessageEvent<Shape[]>) => {
  self.postMessage(place(event.data));
});
