import { render, type Instance, type RenderOptions } from "ink";
import { Component, type ReactNode } from "react";
import { limitYoungGeneration } from "./collector.ts";
import { handleFaults } from "./faults.ts";

/**
 * Draws until the screen is left, and restores the terminal however it ends: an error while drawing, in a key, in a
 * timer or in an unawaited promise rejects, and the earlier content of the terminal comes back.
 */
export async function drawScreen(screen: ReactNode, options: RenderOptions): Promise<void> {
  const fault = Promise.withResolvers<never>();
  let instance: Instance | undefined;
  const fail = (cause: unknown) => {
    try {
      instance?.unmount();
    } catch {
      process.stdout.write(`${options.alternateScreen ? MAIN_SCREEN : ""}${SHOWN_CURSOR}`);
    }
    fault.reject(cause);
  };
  const release = handleFaults(fail);
  limitYoungGeneration();
  try {
    instance = render(<Guarded onFault={fail}>{screen}</Guarded>, options);
    await Promise.race([instance.waitUntilExit(), fault.promise]);
  } finally {
    release();
  }
}

const MAIN_SCREEN = "\u001B[?1049l";
const SHOWN_CURSOR = "\u001B[?25h";

interface GuardedProps {
  readonly children: ReactNode;
  readonly onFault: (fault: unknown) => void;
}

/** Draws nothing after an error; Ink would draw its trace. */
class Guarded extends Component<GuardedProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(fault: unknown): void {
    // Unmounting in the middle of a commit would leave it half done.
    setImmediate(() => this.props.onFault(fault));
  }

  override render(): ReactNode {
    return this.state.isBroken ? undefined : this.props.children;
  }
}
