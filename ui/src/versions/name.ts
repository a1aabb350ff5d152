/** nameOf is how a version is called: v3, or draft. */
export function nameOf(version: string, draft: string): string {
  return version === "draft" ? draft : `v${version}`;
}
