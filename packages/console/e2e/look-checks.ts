import type { Page } from "playwright-core";

// Faults of layout that an operator reports, found by measuring a page.

/** Returns boxes of the page that scroll by themselves; menus next to it, text areas, editors and dialogs may. */
export function innerScrollers(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("main *")]
      .filter((box) => !box.closest("nav, textarea, pre, .cm-editor, [role=dialog], [popover], .sr-only"))
      .filter((box) => /auto|scroll/.test(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight + 1)
      .map((box) => `it scrolls: ${box.tagName} ${box.className.toString().slice(0, 60)}`),
  );
}

/** Returns tables whose widest name leaves more than this of its column empty. */
export function findHoles(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const MAX_HOLE = 300;
    return [...document.querySelectorAll("main table.grid")].flatMap((table) => {
      const cells = [...table.querySelectorAll("td.is-elastic")];
      const range = document.createRange();
      const holes = cells.map((cell) => {
        range.selectNodeContents(cell);
        const right = Math.max(...[...range.getClientRects()].map((box) => box.right));
        return cell.getBoundingClientRect().right - right;
      });
      const least = Math.min(...holes);
      return cells.length > 0 && least > MAX_HOLE ? [`a hole of ${Math.round(least)} px next to the names`] : [];
    });
  });
}

/** Returns toolbars whose controls stand in more than one row. */
export function splitToolbars(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("main [role=search]")].flatMap((bar) => {
      const controls = [...bar.querySelectorAll("input, select, button")].filter(
        (one) => one.getClientRects().length > 0 && !(one.ariaLabel ?? "").match(/^(Remove|移除)/),
      );
      const middles = controls.map((one) => one.getBoundingClientRect()).map(({ top, height }) => top + height / 2);
      const height = Math.max(...middles) - Math.min(...middles);
      return height > 10 ? [`the filters take ${Math.round(height)} px more than a row`] : [];
    }),
  );
}

/** Scrolls to the rows of the first table and returns those that something covers; at least three must be whole. */
export async function coveredRows(page: Page): Promise<string[]> {
  const rows = page.locator("main table.grid tbody tr.grid-row");
  if ((await rows.count()) < 5) return [];
  await rows.nth(3).evaluate((row) => row.scrollIntoView({ block: "center" }));
  return rows.evaluateAll((all) => {
    const whole = all.filter((row) => {
      const { left, top, bottom } = row.getBoundingClientRect();
      const isTop = (y: number) => row.contains(document.elementFromPoint(left + 60, y));
      return top >= 0 && bottom <= innerHeight && isTop(top + 3) && isTop(bottom - 3);
    });
    return whole.length < 3 ? [`only ${whole.length} rows are whole in sight`] : [];
  });
}
