import { Box, Button, Flex, Input, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "../../../session/models.ts";
import { copyOrShow } from "../../../ui/content/copy.ts";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";

const SHOWN = 60;

/** The models that the account may use; a click copies a name. */
export function Models() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(modelsQuery);
  const [find, setFind] = useState("");
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const found = (data ?? []).filter((name) => name.toLowerCase().includes(find.trim().toLowerCase()));
  const copy = async (name: string) => {
    if (await copyOrShow(name)) toast("success", t("modelCopied", { name }));
  };
  return (
    <FormSection title={t("models")} aside={<Text textStyle="sm">{data?.length}</Text>}>
      {(data?.length ?? 0) > SHOWN && (
        <Input
          size="sm"
          type="search"
          maxW="72"
          aria-label={t("findModel")}
          placeholder={t("findModel")}
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      )}
      <Flex as="ul" wrap="wrap" gap="1.5" listStyleType="none">
        {found.slice(0, SHOWN).map((name) => (
          <Box as="li" key={name} maxW="full">
            <Button
              size="xs"
              variant="outline"
              maxW="full"
              height="auto"
              minH="8"
              py="1"
              whiteSpace="normal"
              overflowWrap="anywhere"
              fontFamily="mono"
              fontWeight="normal"
              aria-label={t("copyModel", { name })}
              onClick={() => void copy(name)}
            >
              {name}
            </Button>
          </Box>
        ))}
      </Flex>
      {found.length > SHOWN && <Box color="fg.muted">{t("moreChanges", { count: found.length - SHOWN })}</Box>}
      {data?.length === 0 && <Text color="fg.muted">{t("noModelsYet")}</Text>}
    </FormSection>
  );
}
