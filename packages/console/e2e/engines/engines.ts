import { Builder, Capabilities, type WebDriver } from "selenium-webdriver";
import { findGeckodriver, findMiniBrowser, findProgram, startDriver, startScreen } from "./programs.ts";

export const ENGINES = ["chromium", "firefox", "webkit"] as const;
export type Engine = (typeof ENGINES)[number];

export interface OpenEngine {
  readonly driver: WebDriver;
  close(): Promise<void>;
}

interface Started {
  readonly port: number;
  readonly capabilities: object;
  stop(): Promise<void>;
}

const SIZE = { width: 1440, height: 900 };

const START: Readonly<Record<Engine, () => Promise<Started>>> = {
  async chromium() {
    const program = findProgram("chromedriver", "chromium-driver");
    const running = await startDriver(program, (port) => [`--port=${port}`, "--silent"]);
    const args = [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--lang=en-US",
      `--window-size=${SIZE.width},${SIZE.height}`,
      "--force-prefers-reduced-motion",
    ];
    const binary = process.env["CHROMIUM"] ?? findProgram("chromium", "chromium");
    return { ...running, capabilities: { browserName: "chrome", "goog:chromeOptions": { binary, args } } };
  },
  async firefox() {
    const binary = findProgram("firefox-esr", "firefox-esr");
    const running = await startDriver(findGeckodriver(), (port) => ["--port", String(port), "--log", "fatal"]);
    const options = {
      binary,
      args: ["-headless", `--width=${SIZE.width}`, `--height=${SIZE.height}`],
      prefs: { "intl.accept_languages": "en-US", "intl.locale.requested": "en-US", "ui.prefersReducedMotion": 1 },
    };
    return { ...running, capabilities: { browserName: "firefox", "moz:firefoxOptions": options } };
  },
  async webkit() {
    const screen = await startScreen();
    const env = {
      DISPLAY: screen.display,
      LANG: "C.UTF-8",
      LANGUAGE: "en",
      GTK_A11Y: "none",
      GDK_BACKEND: "x11",
      LIBGL_ALWAYS_SOFTWARE: "1",
      // Inside a container, the sandbox of the library cannot start.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    };
    const program = findProgram("WebKitWebDriver", "webkit2gtk-driver");
    const running = await startDriver(program, (port) => [`--port=${port}`], env);
    const options = { binary: findMiniBrowser(), args: ["--automation", `--geometry=${SIZE.width}x${SIZE.height}`] };
    return {
      port: running.port,
      capabilities: { browserName: "MiniBrowser", "webkitgtk:browserOptions": options },
      async stop() {
        await running.stop();
        await screen.stop();
      },
    };
  },
};

/** Starts a browser of this engine with its driver. */
export async function openEngine(engine: Engine): Promise<OpenEngine> {
  const started = await START[engine]();
  try {
    const driver = await new Builder()
      .usingServer(`http://127.0.0.1:${started.port}`)
      .withCapabilities(new Capabilities(started.capabilities as ConstructorParameters<typeof Capabilities>[0]))
      .build();
    await driver
      .manage()
      .window()
      .setRect({ x: 0, y: 0, ...SIZE });
    return {
      driver,
      async close() {
        // A browser that hangs is ended with its driver.
        await Promise.race([
          driver.quit().catch(() => undefined),
          new Promise((resolve) => setTimeout(resolve, 5_000)),
        ]);
        await started.stop();
      },
    };
  } catch (error) {
    await started.stop();
    throw error;
  }
}
