import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT_PASSWORD, startGateway, startUpstream, type GatewayProcess, type Upstream } from "@fairway/testkit";
import type { Browser } from "playwright-core";
import { openBrowser, openPage, type Watched } from "./browser.ts";
import { signIn } from "./session.ts";

export interface OpenConsole extends Watched {
  readonly gateway: GatewayProcess;
  /** Database of the gateway. */
  readonly file: string;
  readonly upstream: Upstream;
  readonly browser: Browser;
  close(): Promise<void>;
}

interface Settings {
  readonly isSignedIn?: boolean;
  /** Variables of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a new gateway, an upstream for its channels, and a browser with one page on which root is signed in. */
export async function openConsole({ isSignedIn = true, env = {} }: Settings = {}): Promise<OpenConsole> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "fairway-console-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "fairway.db");
  const upstream = await startUpstream();
  opened.defer(() => upstream.stop());
  const gateway = await startGateway({ database: `sqlite:${file}`, env });
  opened.defer(async () => void (await gateway.stop()));
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const watched = await openPage(browser, gateway.url);
  if (isSignedIn) await signIn(watched.page, "root", ROOT_PASSWORD);
  const all = opened.move();
  return { ...watched, gateway, file, upstream, browser, close: () => all.disposeAsync() };
}
