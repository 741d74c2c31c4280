import type { ChannelType } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { localServersQuery } from "./api.ts";
import type { ProviderDraft } from "./provider.ts";
import { useTexts } from "./texts.ts";

/** Offers the model servers that run on the machine of the gateway; nothing if there are none. */
export function LocalServers(props: {
  readonly types: readonly ChannelType[];
  readonly isBusy: boolean;
  onChoose(type: ChannelType, draft: ProviderDraft): void;
}) {
  const t = useTexts();
  const { data = [] } = useQuery(localServersQuery);
  const found = data.flatMap((server) => {
    const type = props.types.find((entry) => entry.type === server.type);
    return type ? [{ ...server, known: type }] : [];
  });
  if (found.length === 0) return null;
  return (
    <Flex role="group" aria-label={t("found")} align="center" gap="3" wrap="wrap" mb="4">
      <Text textStyle="sm">{t("found")}</Text>
      {found.map(({ name, base_url, models, known }) => (
        <Button
          key={base_url}
          size="sm"
          variant="outline"
          disabled={props.isBusy}
          onClick={() => props.onChoose(known, { type: String(known.type), key: "", base_url })}
        >
          {t("useFound", { name, count: models.length })}
        </Button>
      ))}
    </Flex>
  );
}
