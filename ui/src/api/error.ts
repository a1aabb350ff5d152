import type { components } from "./schema";

type FieldError = components["schemas"]["FieldError"];

/** ApiError is an answer that was no success, or none at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly fields: FieldError[];

  constructor(status: number, message: string, requestId?: string, fields: FieldError[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.requestId = requestId;
    this.fields = fields;
  }
}
