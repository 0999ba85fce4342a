// driver.cpp -- main program of every driver.
#include "driver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace
{

struct budget {
    std::string cases;
    double seconds = 0.1;
    int samples = 0;
};

struct pass {
    peer *who;
    int copies;
};

int run_pass(void *user)
{
    const pass *p = static_cast<const pass *>(user);
    for (int i = 0; i < p->copies; i++) p->who->evaluate(i);
    return 0;
}

void set_states(peer &who, const std::vector<scene_body> &body, const scene_case &c, int copies)
{
    const int nv = scene_dof(body.data(), (int)body.size());
    std::vector<double> q(nv), v(nv), tau(nv);
    uint64_t draws = 99;
    for (int i = 0; i < copies; i++) {
        if (c.work == SCENE_BATCH)
            scene_batch_state(&draws, nv, q.data(), v.data(), tau.data());
        else
            scene_state(c.kind, body.data(), (int)body.size(), q.data(), v.data(), tau.data());
        if (c.work == SCENE_RUN) std::fill(tau.begin(), tau.end(), 0);
        who.set(i, q.data(), v.data(), tau.data());
    }
}

scene_digest digest(peer &who, int copies)
{
    scene_digest all = {};
    for (int i = 0; i < copies; i++) {
        who.evaluate(i);
        const std::vector<double> a = who.accelerations();
        const scene_digest one = scene_digest_of(a.data(), (int)a.size());
        all.first = i ? all.first : one.first;
        all.sum += one.sum;
        all.max = std::max(all.max, one.max);
        all.last = one.last;
    }
    return all;
}

void print_head(const scene_case &c, size_t bodies, const std::string &method, const char *unit,
                const timing &t, double scale)
{
    static bool first = true;
    printf("%s\n    {\"case\": \"%s\", \"bodies\": %zu, \"method\": \"%s\", \"unit\": \"%s\", "
           "\"samples\": %d, \"minimum\": %.6g, \"median\": %.6g",
           first ? "" : ",", c.name, bodies, method.c_str(), unit, t.samples, scale * t.min,
           scale * t.median);
    first = false;
}

void time_evaluations(const scene_case &c, const std::vector<scene_body> &body, peer &who,
                      const std::string &method, const budget &b)
{
    const int copies = c.work == SCENE_BATCH ? SCENE_COPIES : 1;
    set_states(who, body, c, copies);
    pass p = {&who, copies};
    timing t = {};
    stopwatch_measure(run_pass, &p, b.seconds, b.samples, &t);
    const scene_digest d = digest(who, copies);
    print_head(c, body.size(), method, "ns", t, 1e9 / copies);
    printf(",\n     \"accelerations\": {\"sum\": %.15g, \"max\": %.15g, \"first\": %.15g, "
           "\"last\": %.15g",
           d.sum, d.max, d.first, d.last);
    const scene_digest *published = scene_published(c.kind, c.n);
    if (published && c.work == SCENE_EVALUATION)
        printf(", \"ninth_digit\": %.3g", scene_ninth_digit(&d, published));
    printf("}}");
}

void time_fall(const scene_case &c, const std::vector<scene_body> &body, peer &who,
               const std::string &method)
{
    fall_result r = {};
    set_states(who, body, c, 1);
    if (!who.fall(r)) return;
    if (!std::isfinite(r.tip) || !std::isfinite(r.energy_error))
        throw std::runtime_error("diverges");
    const timing t = {1, r.seconds / 10, r.seconds / 10};
    print_head(c, body.size(), method, "s per simulated s", t, 1);
    printf(", \"energy_error\": %.3g, \"tip\": %.6g}", r.energy_error, r.tip);
}

struct whole_run {
    peer *who;
    double time, setting;
};

int do_run(void *user)
{
    const whole_run *r = static_cast<const whole_run *>(user);
    r->who->run(r->time, r->setting);
    return 0;
}

void time_runs(const scene_case &c, const std::vector<scene_body> &body, peer &who,
               const std::string &method, const budget &b)
{
    set_states(who, body, c, 1);
    for (const double setting : who.settings()) {
        whole_run r = {&who, scene_duration(c.kind, c.n), setting};
        timing t = {};
        who.run(r.time, r.setting);
        const std::vector<double> q = who.angles();
        const scene_digest d = scene_digest_of(q.data(), (int)q.size());
        if (!std::isfinite(d.sum) || !std::isfinite(d.max)) continue; // diverges
        stopwatch_measure(do_run, &r, b.seconds, b.samples, &t);
        print_head(c, body.size(), method, "s", t, 1);
        printf(", \"setting\": %.6g,\n     \"angles\": {\"sum\": %.15g, \"max\": %.15g, \"first\": "
               "%.15g, \"last\": %.15g}}",
               setting, d.sum, d.max, d.first, d.last);
    }
}

bool wanted(const char *name, const std::string &list)
{
    return (',' + list + ',').find(std::string(",") + name + ',') != std::string::npos;
}

void run_case(const scene_case &c, const about &who, const budget &b)
{
    mechanism m;
    m.body.resize((size_t)scene_size(c.kind, c.n));
    m.loop.resize((size_t)scene_loops(c.kind, c.n));
    scene_fill(c.kind, c.n, m.body.data());
    scene_close(c.kind, c.n, m.loop.data());
    scene_gravity(c.kind, m.gravity);
    const std::vector<scene_body> &body = m.body;
    for (const std::string &method : who.methods) {
        std::string reason;
        try {
            std::unique_ptr<peer> p = make_peer(m, method, reason);
            if (p && c.work == SCENE_FALL) time_fall(c, body, *p, method);
            if (p && c.work == SCENE_RUN) time_runs(c, body, *p, method, b);
            if (p && c.work < SCENE_FALL) time_evaluations(c, body, *p, method, b);
        } catch (const std::exception &e) {
            reason = e.what();
        }
        if (!reason.empty())
            fprintf(stderr, "%s %s: %s: %s\n", who.name.c_str(), method.c_str(), c.name,
                    reason.c_str());
        fflush(stdout);
    }
}

} // namespace

std::vector<double> equal_steps()
{
    return std::vector<double>(scene_steps, scene_steps + SCENE_STEPS);
}

std::vector<int> first_freedoms(const std::vector<scene_body> &body)
{
    std::vector<int> first;
    int at = 0;
    for (const scene_body &b : body) first.push_back(at), at += (int)b.joint;
    return first;
}

void energy_watch::look(double kinetic, double potential)
{
    const double energy = kinetic + potential;
    if (!started) first = energy;
    started = true;
    drift = std::max(drift, std::abs(energy - first));
    kinetic_ = std::max(kinetic_, kinetic);
}

fall_result energy_watch::result(double seconds, double tip) const
{
    return {seconds, drift / kinetic_, tip};
}

int main(int argc, char **argv)
{
    budget b;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--case")) b.cases = argv[i + 1];
        if (!strcmp(argv[i], "--seconds")) b.seconds = atof(argv[i + 1]);
        if (!strcmp(argv[i], "--samples")) b.samples = atoi(argv[i + 1]);
    }
    const about who = peer_about();
    printf("{\"peer\": \"%s\", \"version\": \"%s\", \"compiler\": \"%s\", \"flags\": \"%s\",\n"
           " \"cases\": [",
           who.name.c_str(), who.version.c_str(), PEERS_COMPILER, who.flags.c_str());
    int n;
    const scene_case *cases = scene_cases(&n);
    for (int i = 0; i < n; i++)
        if (wanted(cases[i].name, b.cases)) run_case(cases[i], who, b);
    printf("\n ]}\n");
    return 0;
}
