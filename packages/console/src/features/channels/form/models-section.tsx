import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { allModels, fetchModels, usualModelsQuery } from "../form-api.ts";
import { toChannelInput } from "./channel-form.ts";
import { useType, type SectionProps } from "./sections.tsx";
import { sectionAnchor } from "./section-index.tsx";
import { useTexts } from "../texts.ts";

export function Models({ form, channel }: SectionProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const type = useType(values.type);
  const usual = useQuery(usualModelsQuery).data?.[values.type] ?? [];
  const [isAsking, setAsking] = useState(false);
  const [offered, setOffered] = useState<readonly string[]>([]);
  // The provider may be slow: its models are added to those in the form when they arrive.
  const latest = useRef(values.models);
  latest.current = values.models;
  const add = (models: readonly string[]) => set("models", [...new Set([...latest.current, ...models])]);
  const isOther = values.models.length > 0 && usual.length > 0 && !usual.some((model) => values.models.includes(model));

  async function askProvider(): Promise<void> {
    if (channel === undefined && values.key.trim() === "") return toast("error", t("oneKey"));
    setAsking(true);
    try {
      const models = await fetchModels(channel?.id, toChannelInput(values));
      setOffered(models);
      const fresh = models.filter((model) => !latest.current.includes(model)).length;
      toast("info", t("fetched", { count: models.length, fresh }));
      add(models);
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setAsking(false);
    }
  }

  const addAll = () => void allModels().then(add, toastProblem);

  return (
    <FormSection title={t("sectionModels")} anchor={sectionAnchor("sectionModels")}>
      <ChipsField
        label={t("models")}
        isRequired
        values={values.models}
        suggestions={[...new Set([...offered, ...usual])]}
        placeholder={t("modelsHint")}
        duplicateText={t("modelsRepeated")}
        error={errors.models}
        onChange={(models) => set("models", models)}
      />
      <Flex gap="2" wrap="wrap">
        <Button size="xs" variant="outline" disabled={usual.length === 0} onClick={() => add(usual)}>
          {t("fillRelated")}
        </Button>
        <Button size="xs" variant="outline" onClick={addAll}>
          {t("fillAll")}
        </Button>
        {type?.can_list_models && (
          <Button size="xs" variant="outline" loading={isAsking} onClick={() => void askProvider()}>
            {t("fetchModels")}
          </Button>
        )}
        <Button size="xs" variant="outline" disabled={values.models.length === 0} onClick={() => set("models", [])}>
          {t("clearModels")}
        </Button>
        {isOther && type && (
          <Button size="xs" variant="ghost" color="fairway.fg" onClick={() => set("models", [...usual])}>
            {t("useTypeModels", { count: usual.length, type: type.label })}
          </Button>
        )}
      </Flex>
    </FormSection>
  );
}
