import { useTexts } from "../texts.ts";
import type { Views } from "./use-views.ts";

/** The saved views of a list; absent if there are none. */
export function ViewTabs({ views }: { readonly views: Views }) {
  const t = useTexts();
  if (views.views.length === 0) return null;
  return (
    <div className="view-tabs" role="group" aria-label={t("viewTabs")}>
      <ViewTab name={t("viewAll")} isActive={views.isPlain} open={() => views.open(undefined)} />
      {views.views.map((view) => (
        <ViewTab
          key={view.name}
          name={view.name}
          isActive={view.name === views.active?.name}
          open={() => views.open(view)}
        />
      ))}
    </div>
  );
}

function ViewTab(props: { readonly name: string; readonly isActive: boolean; open(): void }) {
  return (
    <button type="button" className="view-tab" aria-pressed={props.isActive} onClick={props.open}>
      <bdi>{props.name}</bdi>
    </button>
  );
}
