// How good a new password is, said in words. The server's own rules (apiserver/password.go)
// decide; what is beyond them here is advice, and refuses nothing.

export const minPassword = 12;
export const maxPassword = 256;

export type Strength = "empty" | "short" | "long" | "name" | "same" | "guessable" | "fair" | "good" | "strong";

/** refused are the ones that the server does not take. */
export const refused: ReadonlySet<Strength> = new Set(["empty", "short", "long", "name", "same"]);

// What stands at the head of every list of guesses; a password that only adds digits to one of them is soon found.
const common =
  /^(password|passwort|passw0rd|admin|administrator|porpoise|welcome|letmein|qwerty|qwertz|azerty|iloveyou|monkey|dragon|dolphinscheduler|changeme|secret)/;

function runs(text: string): number {
  // Characters that are just one step from the one before: abcd, 4321, aaaa.
  let found = 0;
  for (let i = 1; i < text.length; i++) if (Math.abs(text.charCodeAt(i) - text.charCodeAt(i - 1)) <= 1) found++;
  return found;
}

function alphabet(text: string): number {
  let size = 0;
  if (/[a-z]/.test(text)) size += 26;
  if (/[A-Z]/.test(text)) size += 26;
  if (/[0-9]/.test(text)) size += 10;
  if (text.includes(" ")) size += 1; // words between them are not symbols
  if (/[!-/:-@[-`{-~]/.test(text)) size += 33;
  if (/[^ -~]/.test(text)) size += 100;
  return size;
}

/** strengthOf weighs a password for a user of the given name. */
export function strengthOf(password: string, name: string): Strength {
  const characters = [...password];
  const n = characters.length;
  if (n === 0) return "empty";
  if (n < minPassword) return "short";
  if (n > maxPassword) return "long";
  if (password.toLowerCase() === name.toLowerCase()) return "name";
  const different = new Set(characters).size;
  if (different === 1) return "same";
  const low = password.toLowerCase();
  const told = name.length >= 3 && low.includes(name.toLowerCase());
  // What repeats or follows on adds next to nothing.
  const worth = Math.min(n - runs(low), different * 2);
  const bits = worth * Math.log2(alphabet(password));
  if (common.test(low) || told || different < 5 || bits < 40) return "guessable";
  return bits < 64 ? "fair" : bits < 105 ? "good" : "strong";
}
