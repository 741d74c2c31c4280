import { SimpleGrid } from "@chakra-ui/react";
import type { Form } from "../../../lib/use-form.ts";
import { TextField } from "../../../ui/form/field.tsx";
import type { ChannelDraft } from "./channel-form.ts";
import { useTexts } from "./texts.ts";

interface BatchFieldsProps {
  readonly form: Form<ChannelDraft>;
  /** True if channels of the type take batches. */
  readonly takesBatches: boolean;
}

/** How many batches, and tokens in them, the channel has open at once. */
export function BatchFields({ form, takesBatches }: BatchFieldsProps) {
  const t = useTexts();
  const { batch_max_open: open, batch_max_tokens: tokens } = form.values;
  if (!takesBatches && open === "" && tokens === "") return null;
  return (
    <SimpleGrid columns={2} gap="4">
      <TextField
        label={t("batchMaxOpen")}
        help={t("batchMaxOpenHelp")}
        placeholder={t("batchNoLimit")}
        {...form.input("batch_max_open")}
        onBlur={() => form.touch("batch_max_open")}
      />
      <TextField
        label={t("batchMaxTokens")}
        help={t("batchMaxTokensHelp")}
        placeholder={t("batchNoLimit")}
        {...form.input("batch_max_tokens")}
        onBlur={() => form.touch("batch_max_tokens")}
      />
    </SimpleGrid>
  );
}
