import type { User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { FormSection } from "../../ui/form-drawer.tsx";
import { EmailDialog } from "./email-dialog.tsx";
import { useTexts } from "./texts.ts";

/** What else belongs to the account: the address for mails. */
export function Accounts({ self }: { readonly self: User }) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  const action = t(self.email === "" ? "bind" : "change");
  return (
    <FormSection title={t("accounts")}>
      <Flex align="center" gap="3" wrap="wrap">
        <Text textStyle="sm" fontWeight="medium" minW="7rem">
          {t("email")}
        </Text>
        <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem" overflowWrap="anywhere">
          {self.email || t("notBound")}
        </Text>
        <Button size="xs" variant="outline" aria-label={`${action}: ${t("email")}`} onClick={() => setOpen(true)}>
          {action}
        </Button>
      </Flex>
      {isOpen && <EmailDialog onClose={() => setOpen(false)} />}
    </FormSection>
  );
}
