import { Drawer } from "@chakra-ui/react";
import { DrawerShell } from "../../../ui/form/form-drawer.tsx";
import { useTexts } from "../texts.ts";
import { Facets } from "./facets.tsx";

/** Shows the facets in a sheet if the list has no room next to it. */
export function FacetSheet(props: Parameters<typeof Facets>[0] & { onClose(): void }) {
  const t = useTexts();
  const { onClose, ...facets } = props;
  return (
    <DrawerShell kind="edit" title={t("facets")} onClose={onClose}>
      <Drawer.Body>
        <Facets {...facets} />
      </Drawer.Body>
    </DrawerShell>
  );
}
