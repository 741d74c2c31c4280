import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Key, type WebDriver, type WebElement } from "selenium-webdriver";

// What a user sees of the console, found by roles and accessible names as the engine itself computes them.

const PATIENCE_MS = 45_000;
const POLL_MS = 100;
const SHOTS = join(import.meta.dirname, "../../../../node_modules/.cache/engine-shots");
/** WebKitGTK does not answer each request for a picture. */
const SHOT_MS = 5_000;

/** Elements that may have a role; the engine decides. */
const CANDIDATES = {
  alertdialog: "[role=alertdialog]",
  button: "button, [role=button]",
  checkbox: "input[type=checkbox]",
  combobox: "select, input[list], [role=combobox]",
  dialog: "[role=dialog], dialog[open]",
  heading: "h1, h2, h3",
  link: "a[href]",
  menuitem: "[role=menuitem]",
  option: "[role=option]",
  searchbox: "input[type=search]",
  slider: "[role=slider]",
  textbox: "input:not([type]), input[type=text], input[type=password], textarea, [role=textbox]",
} as const;
export type Role = keyof typeof CANDIDATES;

/** A name is compared as a whole. */
export type Name = string | RegExp;

const matches = (text: string, name: Name) => (typeof name === "string" ? text.trim() === name : name.test(text));

/**
 * Returns the visible elements of a selector whose words may include the name, so that the engine is asked for the names
 * of few.
 */
const LIST = `
  const [selector, part, scope] = arguments;
  const words = (one) => [
    one.textContent, one.getAttribute("aria-label"), one.title, one.placeholder,
    ...[...(one.labels ?? [])].map((label) => label.textContent),
    ...(one.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent),
  ].join(" ").replace(/\\s+/g, " ");
  const isShown = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility === "visible" && !one.closest("[inert], [aria-hidden=true]");
  return [...(scope ?? document).querySelectorAll(selector)].filter((one) => isShown(one) && words(one).includes(part));
`;

/** An option of a closed select has no place on the page, so it is found by its select. */
const OPTION = `return [...(arguments[0].options ?? [])].find((one) => one.label === arguments[1]) ?? null`;

const TEXT_SHOWN = `
  const [part, scope] = arguments;
  const walker = document.createTreeWalker(scope ?? document.body, NodeFilter.SHOW_ELEMENT);
  for (let one = walker.currentNode; one; one = walker.nextNode())
    if (one.textContent.replace(/\\s+/g, " ").includes(part) && one.getClientRects().length > 0 &&
        ![...one.children].some((child) => child.textContent.replace(/\\s+/g, " ").includes(part))) return true;
  return false;
`;

export class Screen {
  readonly #driver: WebDriver;
  readonly #url: string;
  /** Only what is inside counts: a dialog or a row. */
  readonly #scope: (() => Promise<WebElement | undefined>) | undefined;

  constructor(driver: WebDriver, url: string, scope?: () => Promise<WebElement | undefined>) {
    this.#driver = driver;
    this.#url = url;
    this.#scope = scope;
  }

  /** Opens the sign-in page as a new visitor and signs in by the keyboard. */
  async signIn(username: string, password: string): Promise<void> {
    await this.open("/login");
    await this.#driver.manage().deleteAllCookies();
    await this.run(`localStorage.clear(); sessionStorage.clear(); localStorage.setItem("fairway:language", "en");`);
    await this.open("/login");
    await this.fill("textbox", "Username", username);
    await this.fill("textbox", "Password", `${password}${Key.ENTER}`);
    await this.until("the sign-in", async () => !(await this.#driver.getCurrentUrl()).includes("/login"));
    await this.seeRole("heading", /./);
  }

  async open(path: string): Promise<void> {
    await this.#driver.get(new URL(path, this.#url).href);
  }

  /** Returns what a script of the page returns. */
  run<T>(script: string, ...values: unknown[]): Promise<T> {
    return this.#driver.executeScript<T>(script, ...values);
  }

  /** Returns the part of the page inside an element. */
  within(role: Role, name: Name): Screen {
    return new Screen(this.#driver, this.#url, () => this.#look(role, name));
  }

  /** Returns the first row of a table that has this text. */
  row(text: string): Screen {
    return new Screen(this.#driver, this.#url, () => this.#firstShown("tbody tr", text));
  }

  /** Returns the innermost list entry or section that has this text. */
  part(selector: string, text: string): Screen {
    return new Screen(this.#driver, this.#url, () => this.#firstShown(selector, text));
  }

  async click(role: Role, name: Name): Promise<void> {
    await this.until(`a click on ${role} ${name}`, async () => {
      const element = await this.#look(role, name);
      if (!element || !(await element.isEnabled())) return false;
      await element.click();
      return true;
    });
  }

  /** Clicks the element of the scope itself, such as a row. */
  async clickHere(): Promise<void> {
    await this.until("a click on it", async () => {
      const element = await this.#scope?.();
      await element?.click();
      return element !== undefined;
    });
  }

  async clickText(selector: string, text: string): Promise<void> {
    await this.until(`a click on ${text}`, async () => {
      const element = await this.#firstShown(selector, text);
      await element?.click();
      return element !== undefined;
    });
  }

  /** Replaces the text of a field. */
  async fill(role: Role, name: Name, text: string): Promise<void> {
    await this.until(`${role} ${name}`, async () => {
      const field = await this.#look(role, name);
      if (!field) return false;
      // WebKit types nothing after a chord, so what is there is selected by the page and not by keys.
      await this.run("arguments[0].focus(); arguments[0].select?.()", field);
      await field.sendKeys(text);
      return true;
    });
  }

  /** Types into the element that has the focus. */
  async press(...keys: string[]): Promise<void> {
    await this.#driver
      .actions()
      .sendKeys(...keys)
      .perform();
  }

  async chord(modifier: string, key: string): Promise<void> {
    await this.#driver.actions().keyDown(modifier).sendKeys(key).keyUp(modifier).perform();
  }

  /** Chooses an option of a select by its text. */
  async choose(name: Name, option: string): Promise<void> {
    await this.until(`${option} of ${name}`, async () => {
      const field = await this.#look("combobox", name);
      const found = field && (await this.run<WebElement | null>(OPTION, field, option));
      await found?.click();
      return found?.isSelected() ?? false;
    });
  }

  /** Sets a field of a kind that each engine types in another way, such as a time. */
  async setValue(name: string, value: string): Promise<void> {
    await this.until(`the field ${name}`, async () => {
      const [field] = await this.#list("input[type=datetime-local]", name, await this.#scope?.());
      if (!field) return false;
      await this.run(
        `const [field, value] = arguments;
         Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, value);
         field.dispatchEvent(new Event("input", { bubbles: true }));`,
        field,
        value,
      );
      return true;
    });
  }

  async see(text: string): Promise<void> {
    await this.until(`the text “${text}”`, async () => {
      const scope = await this.#scope?.();
      if (this.#scope && !scope) return false;
      return this.run<boolean>(TEXT_SHOWN, text, scope ?? null);
    });
  }

  async seeRole(role: Role, name: Name): Promise<void> {
    await this.until(`${role} ${name}`, async () => (await this.#look(role, name)) !== undefined);
  }

  async seeNone(role: Role, name: Name): Promise<void> {
    await this.until(`no ${role} ${name}`, async () => (await this.#look(role, name)) === undefined);
  }

  /** Returns the value of a field. */
  async read(role: Role, name: Name): Promise<string> {
    const field = await this.#look(role, name);
    return String((await field?.getProperty("value")) ?? "");
  }

  /** Waits until something holds; elements may be replaced meanwhile. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const limit = performance.now() + PATIENCE_MS;
    let last: unknown;
    for (;;) {
      try {
        if (await holds()) return;
        last = undefined;
      } catch (error) {
        last = error;
      }
      if (performance.now() > limit) {
        const reason = last instanceof Error ? `: ${last.message.split("\n")[0]}` : "";
        throw new Error(`${what} did not come within ${PATIENCE_MS / 1_000} s${reason}`, { cause: last });
      }
      await sleep(POLL_MS);
    }
  }

  /** Saves a picture for people to look at; says nothing if the engine gives none. */
  async shoot(name: string): Promise<void> {
    const picture = await Promise.race([
      this.#driver.takeScreenshot().catch(() => undefined),
      sleep(SHOT_MS, undefined, { ref: false }),
    ]);
    if (picture === undefined) return;
    mkdirSync(SHOTS, { recursive: true });
    writeFileSync(join(SHOTS, `${name.replace(/[^\w-]+/g, "-")}.png`), Buffer.from(picture, "base64"));
  }

  async #list(selector: string, part: string, scope?: WebElement): Promise<WebElement[]> {
    return this.run<WebElement[]>(LIST, selector, part, scope ?? null);
  }

  async #firstShown(selector: string, text: string): Promise<WebElement | undefined> {
    const scope = await this.#scope?.();
    if (this.#scope && !scope) return undefined;
    return (await this.#list(selector, text, scope))[0];
  }

  async #look(role: Role, name: Name): Promise<WebElement | undefined> {
    const scope = await this.#scope?.();
    if (this.#scope && !scope) return undefined;
    const found = await this.#list(CANDIDATES[role], typeof name === "string" ? name : "", scope);
    return firstOf(found, async (one) => matches(await one.getAccessibleName(), name));
  }
}

async function firstOf(
  elements: readonly WebElement[],
  holds: (element: WebElement) => Promise<boolean>,
): Promise<WebElement | undefined> {
  for (const element of elements) if (await holds(element)) return element;
  return undefined;
}
