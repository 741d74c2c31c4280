import type { Page } from "playwright-core";

export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);
}

/** Makes a call of the management API as the user who is signed in on the page. */
export function asUser(page: Page, method: string, path: string, body?: object): Promise<unknown> {
  return page.evaluate(
    async ([verb, where, json]) => {
      const user = JSON.parse(localStorage.getItem("user") ?? "{}") as { id: number };
      const headers = { "content-type": "application/json", "New-Api-User": String(user.id) };
      const answer = await fetch(where, { method: verb, headers, ...(json === undefined ? {} : { body: json }) });
      return (await answer.json()) as unknown;
    },
    [method, path, body && JSON.stringify(body)] as const,
  );
}

/** Returns the selector of an option's input on the settings page, by the name that documents use. */
export function option(key: string): string {
  return `[name="${key}"]`;
}

/** Sets an option as the super administrator who is signed in on the page. */
export function setOption(page: Page, key: string, value: string): Promise<unknown> {
  return asUser(page, "PUT", "/api/option/", { key, value });
}
