import type { Page } from "playwright-core";

// Problems that a reader of a page would report, found by measuring it.

/** Opens an address inside the console without a reload: a sweep of all pages then takes a second each. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    const isOther = to.split(/[/?]/)[1] !== location.pathname.split("/")[1] || /\d$/.test(to + location.pathname);
    if (isOther) document.querySelector("h1")?.setAttribute("data-left", "");
    // Written like the router does, so that it accepts the step as its own.
    const { idx = 0 } = (history.state ?? {}) as { idx?: number };
    const state = { usr: null, key: "visit", idx: idx + 1 };
    history.pushState(state, "", to);
    dispatchEvent(new PopStateEvent("popstate", { state }));
  }, path);
  await settled(page);
}

/** Waits until the page of the address is shown, with its form if it has one, and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const wantsForm = /\/(add|edit)\b/.test(location.pathname);
    const hasForm = document.querySelector("[role=dialog] form") !== null;
    return (
      wantsForm === hasForm &&
      document.querySelector("h1:not([data-left])") !== null &&
      document.querySelector('[aria-busy="true"], .grid-bone') === null
    );
  });
}

/** Returns by how many pixels the page is wider than a window of `width`, once its tables have chosen their columns. */
export async function overflowAt(page: Page, width: number): Promise<number> {
  const measured = async (timeout: number) => {
    await page.setViewportSize({ width, height: 900 });
    await page
      .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, undefined, { timeout })
      .catch(() => undefined);
    return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  };
  if ((await measured(500)) <= 0) return 0;
  // Chromium may keep the rules of the previous width, although its media queries match the new one.
  await page.setViewportSize({ width: width + 500, height: 900 });
  await page.evaluate(() => new Promise(requestAnimationFrame));
  return measured(2_000);
}

/** Returns the innermost elements that reach beyond the window. */
export function beyond(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .filter((one, _at, all) => !all.some((other) => other !== one && one.contains(other)))
      .map((one) => `${one.tagName} ${one.className.toString().slice(0, 60)} "${one.textContent.trim().slice(0, 40)}"`)
      .slice(0, 3),
  );
}

/**
 * Returns columns beyond the edge of their table, and fields too narrow to read their input. A named region that scrolls
 * by keyboard may be wider: it holds rows that are compared column by column.
 */
export function cramped(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isShown = (one: Element) => one.getClientRects().length > 0 && !one.closest(".sr-only, [inert]");
    const describeElement = (one: Element) => one.ariaLabel ?? one.textContent.trim().slice(0, 40);
    const tables = [...document.querySelectorAll("main table")].filter(isShown).flatMap((table) => {
      const frame = table.parentElement;
      const isScrolled = frame?.matches("[role=region][aria-label][tabindex='0']");
      return frame && !isScrolled && frame.scrollWidth > frame.clientWidth + 1
        ? [`a table is cut: ${describeElement(table)}`]
        : [];
    });
    const fields = [...document.querySelectorAll("main input:not([type=checkbox], [type=radio], [type=range])")]
      .filter((field) => isShown(field) && field.clientWidth < 48)
      .map((field) => `a field is ${field.clientWidth} px wide: ${describeElement(field)}`);
    return [...tables, ...fields];
  });
}

/** Returns choices, hints and labels that are cut by their box. */
export function cutLabels(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d");
    const isShown = (one: Element) => one.getClientRects().length > 0 && !one.closest("[inert], [aria-hidden=true]");
    const measureWidth = (text: string, like: Element) => {
      if (!pen) return 0;
      const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(like);
      pen.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
      return pen.measureText(text).width;
    };
    const room = (box: Element) => {
      const style = getComputedStyle(box);
      return box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    };
    const fields = [...document.querySelectorAll("select, input[placeholder]")].filter(isShown).flatMap((field) => {
      const text =
        field instanceof HTMLSelectElement
          ? (field.selectedOptions[0]?.label ?? "")
          : field instanceof HTMLInputElement && field.value === ""
            ? field.placeholder
            : "";
      return measureWidth(text, field) > room(field) + 1 ? [`${field.localName}: ${text}`] : [];
    });
    const words = [...document.querySelectorAll("button, label, th, h1, h2, nav a")].filter(isShown).flatMap((word) => {
      const isClipped = getComputedStyle(word).overflowX !== "visible" && word.scrollWidth > word.clientWidth + 1;
      return isClipped ? [`${word.localName}: ${word.textContent}`] : [];
    });
    return [...fields, ...words];
  });
}

/** Returns texts in Latin letters that are neither code nor names of rows, except `known`. */
export function latinTexts(page: Page, known: RegExp): Promise<string[]> {
  return page.evaluate(
    ([source, flags]) => {
      const names = new RegExp(source, flags);
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found = new Set<string>();
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const holder = node.parentElement;
        if (!holder || holder.getClientRects().length === 0) continue;
        if (holder.closest("code, pre, kbd, .mono, bdi, time, script, style, noscript, option")) continue;
        const rest = (node.textContent ?? "").replaceAll(names, "");
        if (/[A-Za-z]{2,}/.test(rest)) found.add((node.textContent ?? "").trim().slice(0, 80));
      }
      return [...found];
    },
    [known.source, known.flags] as const,
  );
}

/** Returns the font families that draw an element, as the browser reports them. */
export async function listFonts(page: Page, selector: string): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector });
  const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
  await session.detach();
  return fonts.map(({ familyName }) => familyName);
}
