/** Waiting is the shell's frame without anything in it, as index.html has it too: it stands until the page knows who is here. */
export function Waiting() {
  return (
    <div className="shell" aria-busy="true">
      <header className="top">
        <span className="brand">Porpoise</span>
      </header>
    </div>
  );
}
