import { SimpleGrid } from "@chakra-ui/react";
import type { Form } from "../../../lib/use-form.ts";
import { SelectField } from "../../../ui/form/field.tsx";
import { NO_MARKS } from "./cache-choice.ts";
import type { ChannelDraft } from "./channel-form.ts";
import { useTexts } from "./texts.ts";

interface CacheFieldsProps {
  readonly form: Form<ChannelDraft>;
  /** True if the type of the channel has such marks. */
  readonly hasMarks: boolean;
}

/** Whether prompts are marked for the upstream's cache. */
export function CacheFields({ form, hasMarks }: CacheFieldsProps) {
  const t = useTexts();
  const { values, set } = form;
  const { prompt_cache: mode, prompt_cache_ttl: ttl } = values;
  if (!hasMarks && mode === NO_MARKS.prompt_cache) return null;
  return (
    <SimpleGrid columns={2} gap="4">
      <SelectField
        label={t("promptCache")}
        help={t("promptCacheHelp")}
        value={mode}
        choices={[
          { value: "off", label: t("promptCacheOff") },
          { value: "auto", label: t("promptCacheAuto") },
          { value: "always", label: t("promptCacheAlways") },
        ]}
        onChange={(value) => set("prompt_cache", value)}
      />
      {mode !== NO_MARKS.prompt_cache && (
        <SelectField
          label={t("promptCacheLife")}
          help={t("promptCacheLifeHelp")}
          value={ttl}
          choices={[
            { value: "5m", label: t("promptCacheShort") },
            { value: "1h", label: t("promptCacheLong") },
          ]}
          onChange={(value) => set("prompt_cache_ttl", value)}
        />
      )}
    </SimpleGrid>
  );
}
