import { useRef, useState } from "react";
import { Icon } from "../../../../ui/display/icon.tsx";
import { IconButton } from "../../../../ui/display/icon-button.tsx";
import { useTexts } from "../../texts.ts";
import { AddName } from "./add-name.tsx";
import { FallbackRow } from "./fallback-row.tsx";
import {
  findModelFault,
  findObstacle,
  moveModel,
  type EditedList,
  type KnownModels,
  type ListedModel,
} from "./fallback-lists.ts";
import { OBSTACLES } from "./words.ts";

/** The ordered models of one list. */
export function FallbackList(props: {
  readonly list: EditedList;
  readonly known: KnownModels | undefined;
  readonly suggestions: readonly string[];
  onChange(list: EditedList): void;
  onRemove(): void;
}) {
  const t = useTexts();
  const { list, known, onChange } = props;
  const box = useRef<HTMLElement>(null);
  const [target, setTarget] = useState<number>();
  const [moved, setMoved] = useState("");
  const change = (models: readonly ListedModel[]) => onChange({ ...list, models });
  const move = (from: number, to: number) => {
    const next = moveModel(list, from, to);
    const model = list.models[from]?.model ?? "";
    const place = next.models.findIndex((entry) => entry.model === model);
    if (place === from) return;
    onChange(next);
    setMoved(t("movedModel", { name: model, place: place + 1, count: next.models.length }));
    // The handle that moved with its row loses the focus.
    requestAnimationFrame(() =>
      box.current?.querySelector<HTMLElement>(`[data-handle="${CSS.escape(model)}"]`)?.focus(),
    );
  };
  const name = list.group === "" ? list.name : `${list.group}: ${list.name}`;
  const warn = (model: string) => {
    const obstacle = findObstacle(model, known);
    return obstacle && t(OBSTACLES[obstacle]);
  };
  return (
    <section ref={box} className="fallback-list" aria-label={t("fallbacksOf", { name })}>
      <header className="fallback-head">
        <bdi className="fallback-owner">{name}</bdi>
        <IconButton size="xs" label={t("removeFallbacksOf", { name })} onClick={props.onRemove}>
          <Icon name="trash" size={14} />
        </IconButton>
      </header>
      <ol>
        {list.models.map((entry, at) => (
          <FallbackRow
            key={entry.model}
            entry={entry}
            at={at}
            isTarget={target === at}
            warning={warn(entry.model)}
            onTarget={setTarget}
            onMove={(to) => move(at, to)}
            onChange={(next) => change(list.models.with(at, next))}
            onRemove={() => change(list.models.toSpliced(at, 1))}
          />
        ))}
      </ol>
      <AddName
        label={t("addModelTo", { name })}
        button={t("addModel")}
        suggestions={props.suggestions.filter((model) => findModelFault(list, model) === undefined)}
        findFault={(model) => findModelFault(list, model)}
        onAdd={(model) => change([...list.models, { model, on: ["error"], rest: {} }])}
      />
      <span className="sr-only" role="status">
        {moved}
      </span>
    </section>
  );
}
