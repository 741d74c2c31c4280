import type { Token } from "@fairway/wire";
import { Box, Button, SimpleGrid, Text } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { SelectField, TextField } from "../../ui/form/field.tsx";
import { createToken } from "./api.ts";
import { useTexts } from "./texts.ts";

const LIMITS = ["5", "20", "100"] as const;
const UNLIMITED = "";

/** Creates the first key of an application. */
export function TokenStep(props: { onDone(token: Token): void }) {
  const t = useTexts();
  const { quotaPerUnit } = useQuotaDisplay();
  const [name, setName] = useState("first-key");
  const [limit, setLimit] = useState<string>(LIMITS[0]);
  const [isSaving, setSaving] = useState(false);

  async function save(): Promise<void> {
    setSaving(true);
    try {
      const quota = limit === UNLIMITED ? undefined : Number(limit) * quotaPerUnit;
      props.onDone(await createToken(name.trim(), quota));
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setSaving(false);
    }
  }

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") void save();
  };
  return (
    <Box>
      <Text color="fg.muted" mb="4">
        {t("tokenBody")}
      </Text>
      <form noValidate onSubmit={submit}>
        <SimpleGrid columns={{ base: 1, md: 2 }} gap="4">
          <TextField label={t("tokenName")} value={name} onChange={setName} />
          <SelectField
            label={t("limit")}
            value={limit}
            choices={[
              ...LIMITS.map((amount) => ({ value: amount, label: `$${amount}` })),
              { value: UNLIMITED, label: t("noLimit") },
            ]}
            onChange={setLimit}
          />
        </SimpleGrid>
        <Button type="submit" mt="4" disabled={name.trim() === ""} loading={isSaving}>
          {t("createToken")}
        </Button>
      </form>
    </Box>
  );
}
