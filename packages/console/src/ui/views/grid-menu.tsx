import { useId, useState, type FormEvent } from "react";
import { Icon } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";
import type { Column, Density, GridLayout } from "../grid/grid-props.ts";
import { ordered } from "../grid/use-grid-table.ts";
import type { Views } from "./use-views.ts";

interface GridMenuProps {
  readonly columns: readonly Pick<Column<never>, "id" | "header" | "isTitle">[];
  /** Ids of the visible columns. */
  readonly shown: ReadonlySet<string>;
  /** Row height of the list while the user has not chosen one. */
  readonly density: Density;
  readonly views: Views;
}

/** Columns, row height and saved views of a list. */
export function GridMenu(props: GridMenuProps) {
  const t = useTexts();
  const { views } = props;
  return (
    <>
      <ColumnList {...props} />
      <DensityChoice {...props} />
      <ViewList views={views} />
      <button type="button" className="grid-menu-reset" onClick={() => views.setLayout({})}>
        {t("layoutReset")}
      </button>
    </>
  );
}

function ColumnList({ columns, shown, views }: GridMenuProps) {
  const t = useTexts();
  const { layout, setLayout } = views;
  const order = ordered(columns, layout.order);
  const byId = new Map(columns.map((column) => [column.id, column]));
  const toggle = (id: string, isShown: boolean) => setLayout(withColumn(layout, id, isShown));
  const move = (id: string, step: 1 | -1) => setLayout({ ...layout, order: moved(order, id, step) });
  return (
    <fieldset>
      <legend>{t("columns")}</legend>
      <ul>
        {order.map((id, index) => {
          const column = byId.get(id);
          if (!column) return null;
          const name = column.header;
          return (
            <li key={id}>
              <label>
                <input
                  type="checkbox"
                  checked={shown.has(id)}
                  disabled={column.isTitle}
                  onChange={(event) => toggle(id, event.target.checked)}
                />
                <span>{name}</span>
              </label>
              <MoveButton label={t("moveUp", { name })} icon="up" isOff={index === 0} move={() => move(id, -1)} />
              <MoveButton
                label={t("moveDown", { name })}
                icon="down"
                isOff={index === order.length - 1}
                move={() => move(id, 1)}
              />
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}

function MoveButton(props: {
  readonly label: string;
  readonly icon: "up" | "down";
  readonly isOff: boolean;
  move(): void;
}) {
  return (
    <button type="button" aria-label={props.label} title={props.label} disabled={props.isOff} onClick={props.move}>
      <Icon name={props.icon} size={14} />
    </button>
  );
}

function DensityChoice({ density, views }: GridMenuProps) {
  const t = useTexts();
  const name = useId();
  const chosen = views.layout.density ?? density;
  const option = (value: Density, label: string) => (
    <label>
      <input
        type="radio"
        name={name}
        checked={chosen === value}
        onChange={() => views.setLayout({ ...views.layout, density: value })}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <fieldset className="grid-menu-row">
      <legend>{t("rowHeight")}</legend>
      {option("comfortable", t("comfortable"))}
      {option("compact", t("compact"))}
    </fieldset>
  );
}

function ViewList({ views }: { readonly views: Views }) {
  const t = useTexts();
  const [name, setName] = useState("");
  const save = (event: FormEvent) => {
    event.preventDefault();
    const wanted = name.trim();
    if (wanted === "") return;
    views.save(wanted);
    setName("");
  };
  return (
    <fieldset>
      <legend>{t("views")}</legend>
      <ul>
        {views.views.map((view) => (
          <li key={view.name}>
            <span className="grid-menu-name">
              <bdi>{view.name}</bdi>
            </span>
            <button
              type="button"
              aria-label={t("viewDelete", { name: view.name })}
              title={t("viewDelete", { name: view.name })}
              onClick={() => views.remove(view.name)}
            >
              <Icon name="trash" size={14} />
            </button>
          </li>
        ))}
      </ul>
      <form className="grid-menu-save" onSubmit={save}>
        <input
          aria-label={t("viewName")}
          placeholder={t("viewName")}
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit">{t("viewSave")}</button>
      </form>
    </fieldset>
  );
}

/** Shows or hides a column at the user's request. */
function withColumn(layout: GridLayout, id: string, isShown: boolean): GridLayout {
  const removeId = (ids: readonly string[] = []) => ids.filter((other) => other !== id);
  const [hidden, shown] = [removeId(layout.hidden), removeId(layout.shown)];
  return isShown ? { ...layout, hidden, shown: [...shown, id] } : { ...layout, hidden: [...hidden, id], shown };
}

function moved(order: readonly string[], id: string, step: 1 | -1): string[] {
  const next = [...order];
  const from = next.indexOf(id);
  next.splice(from, 1);
  next.splice(from + step, 0, id);
  return next;
}
