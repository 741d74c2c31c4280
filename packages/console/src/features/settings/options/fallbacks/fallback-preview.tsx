import { FALLBACK_CAUSES, type FallbackCause } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useState } from "react";
import { SelectField, TextField } from "../../../../ui/form/field.tsx";
import { useTexts } from "../../texts.ts";
import { followCall, type EditedList, type FallbackOption, type KnownModels } from "./fallback-lists.ts";
import { HAPPENS, OBSTACLES } from "./words.ts";

/** Says which models a call would try, in order, with the lists as they are edited. */
export function FallbackPreview(props: {
  readonly name: FallbackOption;
  readonly lists: readonly EditedList[];
  readonly known: KnownModels | undefined;
  readonly suggestions: readonly string[];
}) {
  const t = useTexts();
  const { lists } = props;
  const [typed, setTyped] = useState<string>();
  const [cause, setCause] = useState<FallbackCause>("error");
  const [chosen, setChosen] = useState<string>();
  const groups = [...new Set(lists.map(({ group }) => group))];
  const group = groups.find((one) => one === chosen) ?? groups[0] ?? "";
  const model = (typed ?? lists.find(({ name, group: of }) => of === group && !name.endsWith("*"))?.name ?? "").trim();
  const course = followCall(lists, { group, model, cause }, props.known);
  return (
    <section className="fallback-preview" aria-label={t("previewCall")}>
      <Text fontWeight="semibold">{t("previewCall")}</Text>
      <div className="fallback-fields">
        {props.name === "GroupModelFallbacks" && (
          <SelectField
            label={t("columnGroup")}
            value={group}
            choices={groups.map((value) => ({ value, label: value }))}
            onChange={setChosen}
          />
        )}
        <TextField
          label={t("calledModel")}
          value={typed ?? model}
          suggestions={props.suggestions.slice(0, 200).map((value) => ({ value, label: "" }))}
          isMono
          onChange={setTyped}
        />
        <SelectField
          label={t("whatHappens")}
          value={cause}
          choices={FALLBACK_CAUSES.map((value) => ({ value, label: t(HAPPENS[value]) }))}
          onChange={(value) => setCause(value as FallbackCause)}
        />
      </div>
      {model !== "" && (
        <ol className="fallback-course">
          <li>
            <bdi>{model}</bdi> <span className="fallback-note">{t("firstTried")}</span>
          </li>
          {course.steps.map(({ model: next, obstacle }) => (
            <li key={next} className={obstacle ? "is-out" : undefined}>
              <bdi>{next}</bdi>{" "}
              <span className="fallback-note">
                {obstacle ? t("leftOut", { reason: t(OBSTACLES[obstacle]) }) : t("triedNext")}
              </span>
            </li>
          ))}
        </ol>
      )}
      <Text textStyle="xs" color="fg.muted">
        {course.list === undefined
          ? t(props.name === "ModelFallbacks" ? "noListFits" : "noGroupListFits")
          : t("listFits", { name: course.list })}
      </Text>
    </section>
  );
}
