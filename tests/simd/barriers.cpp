// Which lanes arrive at a block's barriers: branches on %x (threadIdx.x) diverge, those on %same do not.

#include "src/device/cpu/simd/barriers.h"

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

class Kernel {
 public:
  explicit Kernel(const std::string& body)
      : ir_("declare void @gpulua_barrier(ptr, i32)\ndeclare i32 @gpulua.thread.x()\n"
            "define void @f(ptr %context, i1 %same) {\nentry:\n %x = call i32 @gpulua.thread.x()\n"
            " %lane = icmp ult i32 %x, 5\n" +
            body + "}"),
        divergence_(ir_.function()),
        patterns_(ir_.function(), divergence_, WarpLayout::row),
        barriers_(ir_.function(), patterns_) {}

  const Barriers* operator->() const { return &barriers_; }
  bool lanes_leave(const char* from, const char* to) { return barriers_.lanes_leave(ir_.block(from), ir_.block(to)); }

 private:
  Ir ir_;
  Divergence divergence_;
  LanePatterns patterns_;
  Barriers barriers_;
};

const std::string barrier = " call void @gpulua_barrier(ptr null, i32 1)\n";

}  // namespace

TEST_CASE("barriers: in straight code", "[simd]") {
  Kernel none(" ret void");
  CHECK_FALSE(none->any());
  CHECK(none->lanes_arrive_together());
  Kernel one(barrier + " ret void");
  CHECK(one->any());
  CHECK(one->lanes_arrive_together());
}

TEST_CASE("barriers: on one of two ways", "[simd]") {
  const std::string diamond = ", label %then, label %join\nthen:\n" + barrier + " br label %join\njoin:\n";
  Kernel all(" br i1 %same" + diamond + barrier + " ret void");
  CHECK(all->lanes_arrive_together());
  CHECK_FALSE(all.lanes_leave("entry", "join"));
  Kernel some(" br i1 %lane" + diamond + barrier + " ret void");
  CHECK_FALSE(some->lanes_arrive_together());
  // With no barrier after it, those that take the other way have left.
  Kernel last(" br i1 %lane" + diamond + " ret void");
  CHECK(last->lanes_arrive_together());
  CHECK(last.lanes_leave("entry", "join"));
  CHECK_FALSE(last.lanes_leave("then", "join"));
}

TEST_CASE("barriers: after the point where lanes converge", "[simd]") {
  Kernel kernel(" br i1 %lane, label %then, label %join\nthen:\n br label %join\njoin:\n" + barrier + " ret void");
  CHECK(kernel->lanes_arrive_together());
  CHECK_FALSE(kernel.lanes_leave("then", "join"));
}

TEST_CASE("barriers: in loops", "[simd]") {
  auto loop = [](const std::string& condition, const std::string& after) {
    return " br label %header\nheader:\n" + barrier + " br i1 " + condition + ", label %header, label %end\nend:\n" +
           after + " ret void";
  };
  Kernel together(loop("%same", barrier));
  CHECK(together->lanes_arrive_together());
  CHECK_FALSE(together.lanes_leave("header", "end"));
  Kernel parting(loop("%lane", ""));
  CHECK(parting->lanes_arrive_together());
  CHECK(parting.lanes_leave("header", "end"));
  // Lanes that left the loop come to the other barrier while others are still at the first one.
  CHECK_FALSE(Kernel(loop("%lane", barrier))->lanes_arrive_together());
}

}  // namespace gpulua::cpu::simd
