import { expect, test } from "vitest";
import { ApiError } from "../api/error";
import { wrongFields } from "./problem";

const say = (key: string, values?: Record<string, string | number>) => `${key} ${values?.column} ${values?.value} ${values?.range}`;

function wrongCron(message: string) {
  const field = { field: "cron", code: "out_of_range", message, value: "61", column: 3 };
  return wrongFields(new ApiError(422, "wrong", "r1", [field]), say as never).cron;
}

test("a cron that is out of range says what is allowed", () => {
  expect(wrongCron("hour 61 is not in 0-23")).toBe("cron.err.out_of_range 3 61 0-23");
  expect(wrongCron("day of month: L wants a number in 1-30")).toBe("cron.err.out_of_range 3 61 1-30");
  expect(wrongCron("@every 61 is not a number of whole seconds in 1s-366d")).toBe("cron.err.out_of_range 3 61 1s-366d");
});

test("without a range in the answer, the sentence has none", () => {
  expect(wrongCron("61 is beyond what is allowed")).toMatch(/^cron\.err\.beyond 3 61/);
});
