import { ApiError, answer, api } from "../../api/client";
import { type Ask, Unauthorized } from "./validator";

/** askServer validates a text at the server. */
export const askServer: Ask = async (text, json, signal) => {
  try {
    const found = await answer(
      api.POST("/validate", {
        body: text,
        bodySerializer: (body) => body,
        headers: { "Content-Type": json ? "application/json" : "application/yaml" },
        signal,
      }),
    );
    return [...found.errors, ...found.warnings.map((w) => ({ ...w, severity: "warning" as const }))];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) throw new Unauthorized();
    // A text that is too long, or no text at all, is refused before it is read.
    if (error.status >= 400 && error.status < 500 && error.fields.length > 0) return error.fields;
    throw error;
  }
};
