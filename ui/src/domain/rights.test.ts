import { describe, expect, it } from "vitest";
import type { Me } from "../api/client";
import { isRole, may, roleIn } from "./rights";

const me = (part: Partial<Me>): Me => ({
  user_id: "1",
  name: "ann",
  admin: false,
  must_change_password: false,
  set_up: false,
  roles: {},
  ...part,
});

describe("rights", () => {
  it("are those of the project, and all of them for an admin", () => {
    expect(roleIn(me({ roles: { etl: "viewer" } }), "etl")).toBe("viewer");
    expect(roleIn(me({ roles: { etl: "owner" } }), "other")).toBe("none");
    expect(roleIn(me({ admin: true }), "etl")).toBe("admin");
  });
  it("include those of every lower role", () => {
    expect(may("editor", "operator")).toBe(true);
    expect(may("viewer", "operator")).toBe(false);
    expect(may("admin", "owner")).toBe(true);
    expect(may("owner", "admin")).toBe(false);
    expect(may("none", "viewer")).toBe(false);
  });
  it("of a role that nobody knows are none", () => {
    expect(may("emperor", "viewer")).toBe(false);
    expect(isRole("emperor")).toBe(false);
    expect(isRole("owner")).toBe(true);
  });
});
