let isPressed = false;
const waiting: (() => void)[] = [];

function release(): void {
  isPressed = false;
  // The click itself comes first.
  setTimeout(() => waiting.splice(0).forEach((action) => action()));
}

addEventListener("pointerdown", () => (isPressed = true), true);
addEventListener("pointerup", release, true);
addEventListener("pointercancel", release, true);

/** Runs when no pointer is down: what appears between press and release moves the button away from under the click. */
export function afterPress(action: () => void): void {
  if (isPressed) waiting.push(action);
  else action();
}
