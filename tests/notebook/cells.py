"""cells.py GPULUA: what a cell's result is, and which errors belong to it. Needs Debian's python3-jupyter-client."""
import re
import unittest

from fixture import Notebook


class Cells(Notebook):
    def test_the_last_expression_is_the_result(self):
        self.assertEqual(self.run_cell("6 * 7").data["text/plain"], "42")
        self.assertEqual(self.run_cell("x = 1\nlocal y = 2\n-- a comment\nx + y -- another").data["text/plain"], "3")
        self.assertEqual(self.run_cell("1, 'two'").data["text/plain"], '1\t"two"')
        self.assertEqual(self.run_cell("'_' .. 'x'").data["text/plain"], '"_x"')
        self.assertEqual(self.run_cell("#_").data["text/plain"], "2")
        for code in ["3;", "x = 3", "", "print()", "x = 3\n\n"]:
            self.assertEqual(self.run_cell(code).all("execute_result"), [], code)

    def test_lines_that_go_on_are_one_statement(self):
        self.run_cell("f = function(t) return t end")
        self.assertEqual(self.run_cell("a = 5\n- 3; a").data["text/plain"], "2")
        self.assertEqual(self.run_cell("b = f\n{7}; b[1]").data["text/plain"], "7")
        self.assertEqual(self.run_cell("function g()\n  return 4\nend\ng()").data["text/plain"], "4")
        self.assertEqual(self.run_cell("return 8\n").data["text/plain"], "8")

    def test_errors_name_the_cell_and_its_line(self):
        count = self.run_cell("").reply["execution_count"] + 1
        error = self.fails("x = 1\nerror 'oops'")
        self.assertEqual(error["evalue"], f"In[{count}]:2: oops")
        self.assertEqual(error["traceback"][0], error["evalue"])
        self.assertEqual(self.fails("for i = 1, 2 do")["ename"], "SyntaxError")
        self.assertIn("[add]", self.fails("gpu.ones(4) + gpu.ones(3)")["evalue"])
        self.assertIn("ends with its command", self.run_cell("local z = 1").text("stderr"))

    def test_locals_of_earlier_cells_are_named(self):
        self.run_cell("local kept, gone = 1, gpu.ones(3)\nlocal function helper() return 1 end\nprint(kept)")
        for code, name in [("v = gone:sum()", "gone"), ("v = helper()", "helper"), ("v = kept + 1", "kept")]:
            self.assertIn(f"hint: {name} was a local variable of an earlier cell, and ended with it; without local, {name} = ..., it stays",
                          self.fails(code)["evalue"])
        self.assertNotIn("earlier cell", self.fails("v = unknown:sum()")["evalue"])

    def test_a_line_of_its_own_is_the_result(self):
        self.run_cell("x = gpu.array {1, 2, 3}")
        for code, text in [
            ("u = x:copy()\n(u * 2):sum()", "12"), ("u = x + 1\n(u*2):sum()", "18"), ("u = x - 0.5\n-u:sum()", "-4.5"),
            ("x:sum()\n-x:max()", "-3"), ("n = 5\n'text'", '"text"'), ('n = 5\n"text"', '"text"'), ("n = x\n#n", "3"),
            ("print(1)\n{4, 5}", "5"), ("u = x\n(u\n  * 2):sum()", "12"),
        ]:
            self.assertIn(text, self.run_cell(code).data["text/plain"], code)
        # Indented lines belong to the line before.
        self.assertEqual(self.run_cell("a = 5\n  - 3").all("execute_result"), [])
        self.assertEqual(self.run_cell("a").data["text/plain"], "2")
        self.assertIn("a ; in front of the ( parts them", self.fails("u = x:copy()\n(u * 2):add_(1)\nv = 1")["evalue"])

    def test_errors_of_queued_work_belong_to_their_cell(self):
        singular = "gpu.linalg.inv(gpu.ones(%d, %d))"
        error = self.fails(f"a = {singular % (2, 2)}\nb = {singular % (3, 3)}")
        self.assertIn("U(2,2) is 0; queued at In[", error["evalue"])
        self.assertEqual(re.findall(r"the matrix is singular.*queued at In.[0-9]+.:([0-9]);", error["evalue"]), ["1", "2"])
        self.assertEqual(self.run_cell("gpu.sync()\n'innocent'").data["text/plain"], '"innocent"')
        error = self.fails("gpu.sparse.csr({5, 6, 7}, {0, 2, 1}, {0, 2, 3})\ngpu.sync()")
        self.assertEqual(self.run_cell("gpu.sync()\n'innocent'").data["text/plain"], '"innocent"')
        # Also behind an error of the cell itself.
        error = self.fails(f"a = {singular % (2, 2)}\nerror 'of the cell'")
        self.assertIn(":2: of the cell\n", error["evalue"])
        self.assertIn("U(2,2) is 0; queued at In[", error["evalue"])
        self.assertEqual(self.run_cell("gpu.sync()\n'innocent'").data["text/plain"], '"innocent"')


if __name__ == "__main__":
    unittest.main()
