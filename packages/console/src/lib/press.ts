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

/**
 * Runs the action when no pointer is down: an element that appears between press and release would move the button away
 * from the click.
 */
export function afterPress(action: () => void): void {
  if (isPressed) waiting.push(action);
  else action();
}
