import { Button, Menu } from "@mantine/core";
import { type Column, columns, columnWords } from "../../domain/instanceColumns";
import { useSay } from "../../i18n";
import { change, useSettings } from "../../settings";

/** Columns is which columns the lists of instances have in this browser. */
export function Columns() {
  const { t } = useSay();
  const { hidden } = useSettings();
  const toggle = (c: Column) => change({ hidden: hidden.includes(c) ? hidden.filter((x) => x !== c) : [...hidden, c] });
  return (
    <Menu position="bottom-end" closeOnItemClick={false} width={220}>
      <Menu.Target>
        <Button variant="default" className="columns-button">
          {t("instances.columns")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t("instances.columnsHint")}</Menu.Label>
        {columns.map((c) => (
          <Menu.CheckboxItem key={c} checked={!hidden.includes(c)} onChange={() => toggle(c)}>
            {t(columnWords[c])}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
