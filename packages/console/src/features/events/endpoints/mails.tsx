import type { Notifications } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { mailsQuery } from "../api.ts";
import { OWN } from "../owner.ts";
import { useTexts, type Texts } from "../texts.ts";

/** Says what is mailed to the reader, above the list of endpoints. */
export function MailsLine() {
  const t = useTexts();
  const { data } = useQuery(mailsQuery);
  if (!data) return null;
  return (
    <Flex align="center" gap="3" wrap="wrap" bg="bg.panel" borderWidth="1px" borderRadius="l3" px="4" py="2.5" mb="3">
      <Text fontWeight="medium">{t("mails")}</Text>
      <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem" overflowWrap="anywhere">
        {describeMails(t, data)}
      </Text>
      <Button asChild size="sm" variant="outline">
        <Link to={`${OWN.path}/edit/mail`}>{t("mailsChoose")}</Link>
      </Button>
    </Flex>
  );
}

function describeMails(t: Texts, { can_mail: canMail, email, types }: Notifications): string {
  if (!canMail) return t("mailsOff");
  return email === "" ? t("mailsNoAddress") : t("mailsTo", { email, types: types.join(", ") });
}
