import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The base is relative: the server writes the real one into the index's <base> tag.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: { outDir: "dist/app", emptyOutDir: true, target: "es2022", sourcemap: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:8080", "/sign-in": "http://127.0.0.1:8080" } },
});
