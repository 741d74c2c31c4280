interface RenderOptions {
  readonly sitekey: string;
  readonly theme: "light" | "dark";
  readonly language: string;
  callback(token: string): void;
  "expired-callback"(): void;
  "error-callback"(): void;
}

/** The used part of Cloudflare's script. */
export interface Turnstile {
  render(box: HTMLElement, options: RenderOptions): string;
  reset(widget: string): void;
  remove(widget: string): void;
}

declare global {
  var turnstile: Turnstile | undefined;
}

const SCRIPT = "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit";

let loading: Promise<Turnstile> | undefined;

function load(): Promise<Turnstile> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SCRIPT;
    script.async = true;
    const fail = () => {
      // The next attempt starts from the beginning.
      loading = undefined;
      script.remove();
      reject(new Error("The script of the human check could not be loaded."));
    };
    script.addEventListener("error", fail);
    script.addEventListener("load", () => {
      if (globalThis.turnstile) resolve(globalThis.turnstile);
      else fail();
    });
    document.head.append(script);
  });
}

/** Loads the script of the human check once, and only if it is needed. */
export function loadTurnstile(): Promise<Turnstile> {
  loading ??= load();
  return loading;
}
